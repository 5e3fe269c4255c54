"""What goes wrong while judging: for each fault, what is reported, stored, and completed later."""
