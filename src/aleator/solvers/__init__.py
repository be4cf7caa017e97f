"""Solvers: a public tree and a configuration in, a policy out.

`solve` picks one by name, iterates until a limit is reached and returns a `solution`. The iterative ones have one
interface (`state.Solver`): `cfr`, `fictitious_play`, `mccfr`, `pruned_cfr`, `egt`; `regret_rule`, `sampling_rule` and
`pruning_rule` have their variants. `linear_program` and `minimax` are exact. `best_response` evaluates policies.
`holdem` has the same for hold'em spots. `engines` has the kernels.
"""
