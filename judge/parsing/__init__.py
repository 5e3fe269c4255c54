"""Reading a judge's answer: the score in it, or the reason why there is none."""
