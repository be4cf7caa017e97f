"""Games of two to ten players, given by their histories: rules, every two-player game, and games of OpenSpiel."""
