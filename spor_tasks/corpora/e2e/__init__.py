"""E2E, cleaned: attribute-value pairs about restaurants."""
