"""The example study: invented texts, simulated raters and a simulated judge."""
