"""Does the judge agree with people?"""
