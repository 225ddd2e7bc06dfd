"""The steps from a photograph to a relief; pipeline.py puts them in order."""
