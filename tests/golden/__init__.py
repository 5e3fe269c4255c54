"""Outputs of the whole product, recorded and compared."""
