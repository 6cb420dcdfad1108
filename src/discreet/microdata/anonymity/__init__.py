"""Tables in which nobody stands alone: k-anonymity, l-diversity, t-closeness, and how to look for them."""
