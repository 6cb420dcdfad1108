"""What questions would cost and how far off their answers would be, before anything is asked."""
