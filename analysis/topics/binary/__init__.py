"""Pass or fail: the rates of a judge, its cut, and pass rates of systems."""
