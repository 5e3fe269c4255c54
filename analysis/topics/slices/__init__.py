"""Agreement by system, by domain and by length of the response."""
