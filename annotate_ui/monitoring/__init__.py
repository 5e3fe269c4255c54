"""What the owner of a campaign watches: progress, agreement, signals, stopping. Knows no web."""
