# Made by scripts/generate_stubs.py
RegularGridInterpolator: Python["type"]
