"""What attacks found in one release: text, data, and a page for its owner."""
