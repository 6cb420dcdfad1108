"""Distribution functions and densities."""
