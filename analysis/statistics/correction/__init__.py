"""System means that people would have given, from judge scores and fewer ratings."""
