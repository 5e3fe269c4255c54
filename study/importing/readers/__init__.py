"""Files as records: delimited text, JSON and Parquet behind one form."""
