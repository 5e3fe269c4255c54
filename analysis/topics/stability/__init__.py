"""Would another run of the judge give the same scores?"""
