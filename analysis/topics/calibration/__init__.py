"""What does a score mean, and how large are its errors?"""
