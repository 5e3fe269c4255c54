"""Missing values as a finding: where they gather, and what they could have changed."""
