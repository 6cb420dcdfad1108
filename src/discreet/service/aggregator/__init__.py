"""Leader and helper over HTTP, in the shape of DAP."""
