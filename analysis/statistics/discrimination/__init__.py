"""Which systems differ: randomized Tukey tests, discriminative power, hypotheses."""
