"""A sum of which nobody sees the parts: the protocol, its clients, its server and its end."""
