"""Who may hold an exact answer: records, sources, curators, parties, permits."""
