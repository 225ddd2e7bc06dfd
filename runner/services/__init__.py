"""The part of the host that an extension may import."""
