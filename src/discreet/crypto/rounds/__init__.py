"""What a round of parties has in common, whatever they compute: terms, announced keys, sealed boxes."""
