"""What deep learning asks of records: exact sums, secret until a mechanism has added its noise."""
