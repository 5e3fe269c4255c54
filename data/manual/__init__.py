"""The pages of the documentation, installed so that `ccrs help` can show them."""
