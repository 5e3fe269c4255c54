"""Controls on which a value is given."""
