"""The protocol of the Annual Computer Poker Competition: match states, game files, a client and a dealer."""
