"""How would people have rated all responses of each system?"""
