"""What would people have said of each system?"""
