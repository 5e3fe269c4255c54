"""Controls on which a value is entered."""
