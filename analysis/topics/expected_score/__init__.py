"""Does the mean of the judge's probabilities follow people better?"""
