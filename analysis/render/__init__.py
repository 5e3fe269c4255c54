"""What reports are made of: drawings, tables, words, the verdict, the page, JSON and CSV."""
