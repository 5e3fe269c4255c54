"""What a rater does: the queue of open slots, items, saving, history, training, comparisons."""
