"""The model: what jaxlint knows about a module. Start with `events.py`."""
