"""Do the constructs measure different things?"""
