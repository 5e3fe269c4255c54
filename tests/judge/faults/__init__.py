"""What goes wrong while judging: for each fault, what is said, stored, and made good later."""
