"""How do several judges compare with people and with each other?"""
