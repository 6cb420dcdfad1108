"""Series: one number for each period of time, released together or one after the other."""
