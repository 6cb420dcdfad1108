"""What events cost an account: filters that add up losses, and their prices."""
