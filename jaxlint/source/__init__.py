"""From paths to text: discovery, decoding, suppressions, positions."""
