"""The only place that draws noise: secret bits and exact samplers.

Integer noise is in steps of a grid that the caller chose. Each sampler takes `bits`, where randomness comes from, first
and then mostly the public `size`, the shape of the result. It draws from exactly the law that it names, provided that
the bits are uniform: no float64 rounding error is left in it.
"""
