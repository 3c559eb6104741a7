"""Plugin package."""
