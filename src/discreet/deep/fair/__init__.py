"""Networks that treat groups alike, trained without giving away who is in which group."""
