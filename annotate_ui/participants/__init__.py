"""How people join, what they agree to, and how they leave. Knows no web."""
