"""Association rules: mined by the owner, hidden from others, or found privately."""
