"""The worker process: methods by name, each a function of its parameters and a channel to report on."""

from __future__ import annotations

METHODS = {
    "range": "read:read_range",
    "parse": "read:parse",
    "format": "read:format",
    "check": "read:check",
    "runs": "runs:list_runs",
    "find-run": "runs:find_run",
    "run": "runs:show_run",
    "warm-up": "holdem:warm_up",
    "estimate": "holdem:estimate",
    "solve": "holdem:solve",
    "import": "holdem:check_file",
    "node": "explore:node",
    "hands": "explore:hands",
    "ranges": "explore:ranges",
    "runouts": "explore:runouts",
    "equilibrium": "equilibrium:solve_game",
    "tree": "race:tree",
    "race": "race:race",
    "prepare": "opponents:prepare",
    "play": "play:play",
    "rivals": "rivals:list_rivals",
    "hand": "whole_hands:play",
    "hint": "coach:hint",
    "review": "coach:review",
    "hand-spot": "coach:spot_of_decision",
    "grade": "coach:grade",
    "read-hands": "hand_files:read",
    "phh": "hand_files:write",
    "hand-view": "hand_files:view",
}
"""Method -> module and function in this package; imported at the first call: a worker loads only what it does."""
