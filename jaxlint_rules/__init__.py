"""The rules that come with jaxlint, one module each."""
