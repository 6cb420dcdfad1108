"""Pictures recognised though they were pixelated, blurred or scrambled."""
