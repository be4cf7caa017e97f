"""Small files to play by: buckets whose boards are made when they are asked for, blueprints in few bits.

`squeezing` is how numbers are compressed, `buckets` and `policies` are what there is in a file, `chances` what values
of blueprints need of cards, `shipped` finds the files that come with the package.
"""
