"""Which form the gradients of each kind of layer have: one file for each kind."""
