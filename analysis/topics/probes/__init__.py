"""How far do scores move with what should not move them?"""
