"""Assignment of responses to raters: seeded, balanced, added to what is assigned already."""
