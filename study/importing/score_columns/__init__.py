"""Tables with columns of judges and raters: which columns those are, and how they are read."""
