"""Which systems differ: randomised Tukey tests, discriminative power, hypotheses."""
