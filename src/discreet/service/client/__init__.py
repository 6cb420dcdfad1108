"""Data sets of a site that is elsewhere, asked as if they were here."""
