"""Where are scores missing?"""
