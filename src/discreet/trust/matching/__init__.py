"""Matching between machines: who keeps a gallery, who asks, who decides, and how often."""
