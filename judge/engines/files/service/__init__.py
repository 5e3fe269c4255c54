"""Providers' batch services: files of requests are submitted, and their results fetched."""
