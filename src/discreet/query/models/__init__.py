"""Models in files: what is opened, how, and what is refused."""
