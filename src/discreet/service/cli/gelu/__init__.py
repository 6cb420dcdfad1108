"""`discreet gelu`: networks whose weights one side has and whose data the other."""
