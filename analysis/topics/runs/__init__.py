"""How was the judge run?"""
