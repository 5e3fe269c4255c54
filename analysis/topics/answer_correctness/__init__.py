"""What do exact match and the judge's part add to Answer Correctness?"""
