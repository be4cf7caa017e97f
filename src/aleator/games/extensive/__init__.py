"""Games that are given move by move: public states are found from histories, or positions are the states."""
