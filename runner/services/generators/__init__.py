"""Base classes of generators; see base.py."""
