"""How are the scores distributed?"""
