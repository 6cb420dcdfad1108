"""The only place that draws noise: secret bits and exact samplers.

Integer noise is in steps of a grid that the caller chose. Each sampler takes the source of its bits first and draws
from exactly the law that it names, provided that the bits are uniform: no float64 rounding error is left in it.
"""
