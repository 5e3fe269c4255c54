"""How well do people agree with each other?"""
