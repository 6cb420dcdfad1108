"""A network whose weights one side has and whose data the other: linear parts are computed on encrypted numbers."""
