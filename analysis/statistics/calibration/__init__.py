"""Calibration and recalibration of a judge's scores."""
