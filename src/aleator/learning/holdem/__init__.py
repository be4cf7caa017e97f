"""Value networks of heads-up no-limit hold'em: what hands are worth at the start of the river, or before its card.

`situations` draws random spots, `examples` solves them by the batched engine, `network` is the network, `fitting` fits
and measures it, `slices` ties one run together, `leaves` puts a network at the leaves of a betting round.
"""
