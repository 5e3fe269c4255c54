"""The owner's pages: how a campaign goes, and what the owner may do about it."""
