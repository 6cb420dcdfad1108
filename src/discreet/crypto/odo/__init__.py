"""Our Data, Ourselves: counts and coins in shares that are verified, added up and opened though some parties lie."""
