"""Whether a score means what it says: calibration and recalibration."""
