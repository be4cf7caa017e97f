"""Algorithms racing on one small game, with the policies as they change."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from aleator.apps.web.worker.channel import Channel
from aleator.games.base import CHANCE
from aleator.games.registry import load_game
from aleator.solvers.algorithms import find_algorithm
from aleator.solvers.best_response import expected_value, nash_conv
from aleator.solvers.linear_program import solve_linear_program
from aleator.solvers.solve import prepare
from aleator.solvers.state import TreeSolver
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree, build_tree

MAX_SHOWN = 120
SECONDS_BETWEEN_POLICIES = 0.3
GROWTH = 1.12  # iterations between two looks at the exploitability


def shown_nodes(tree: PublicTree) -> list[int]:
    """Returns the nodes that are drawn: whole levels from the root down, as many as fit."""
    shown, level = [0], [0]
    while level:
        level = [child for node in level for child in tree.children(node)]
        if len(shown) + len(level) > MAX_SHOWN:
            break
        shown += level
    if len(shown) == 1:
        shown += list(tree.children(0))[:MAX_SHOWN]
    return shown


def tree(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the upper part of the public tree of `game`."""
    built = build_tree(load_game(params["game"]))
    shown = shown_nodes(built)
    names, kept = built.labels, set(shown)
    nodes = []
    for node in shown:
        actor, state = int(built.actor[node]), built.states[node]
        nodes.append(
            {
                "id": node,
                "parent": int(built.parent[node]),
                "label": names[node],
                "actor": actor,
                "actions": list(built.game.actions(state)) if actor >= 0 else [],
                "hands": list(built.game.hands(state, actor)) if actor >= 0 else [],
                "cut": any(child not in kept for child in built.children(node)),
                "chance": actor == CHANCE,
            }
        )
    return {
        "game": built.game.name,
        "nodes": nodes,
        "num_nodes": built.num_nodes,
        "num_infostates": built.num_infostates,
        "num_hands": list(built.game.num_hands(built.states[0])),
    }


class _Runner:
    """One algorithm of a race."""

    def __init__(self, name: str, solver: TreeSolver) -> None:
        self.name, self.solver = name, solver
        self.seconds = 0.0
        self.exploitability = float("nan")
        self.next_look = 1

    def advance(self, seconds: float) -> None:
        """Iterates for about so long, at most to the next look at the exploitability."""
        started = perf_counter()
        while self.solver.iteration < self.next_look and perf_counter() - started < seconds:
            rate = self.solver.iteration / max(self.seconds, 1e-6) if self.solver.iteration else 0.0
            chunk = max(1, min(self.next_look - self.solver.iteration, int(rate * seconds / 4)))
            before = perf_counter()
            self.solver.run(chunk)
            self.seconds += perf_counter() - before

    def look(self) -> bool:
        """Returns whether there is a new exploitability."""
        if self.solver.iteration < self.next_look:
            return False
        self.exploitability = self.solver.nash_conv() / 2
        self.next_look = max(self.solver.iteration + 1, int(self.solver.iteration * GROWTH))
        return True

    def point(self) -> dict[str, Any]:
        """Returns a point of the chart."""
        return {
            "algorithm": self.name,
            "iteration": self.solver.iteration,
            "seconds": self.seconds,
            "exploitability": self.exploitability,
        }


def race(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the last point of each of `algorithms` on `game`; all points and policies are reported on the way.

    Turns are taken by time spent solving, so that the chart over seconds is fair. Looking at the exploitability is not
    counted.
    """
    channel.report(stage="compiling")
    for name in params["algorithms"]:
        prepare(name)
    built = build_tree(load_game(params["game"]))
    shown = [node for node in shown_nodes(built) if built.actor[node] >= 0]
    racing = {name: find_algorithm(name) for name in params["algorithms"]}
    runners = [
        _Runner(name, chosen.make_solver(built, seed=params["seed"]))
        for name, chosen in racing.items()
        if not chosen.exact
    ]
    results = {name: _linear_program(name, built, shown, channel) for name, chosen in racing.items() if chosen.exact}
    reported = dict.fromkeys((runner.name for runner in runners), -SECONDS_BETWEEN_POLICIES)
    started = perf_counter()
    while runners and not channel.stopped:
        runner = min(runners, key=lambda one: one.seconds)
        runner.advance(0.05)
        now = perf_counter() - started
        if runner.look():
            point = runner.point()
            if now - reported[runner.name] >= SECONDS_BETWEEN_POLICIES:
                reported[runner.name] = now
                point |= _policy_report(runner.solver.average_policy(), shown)
            channel.report(stage="racing", **point)
        if now > params["seconds"] or runner.exploitability <= params["target"]:
            final = runner.solver.average_policy()
            channel.report(stage="racing", **runner.point(), **_policy_report(final, shown))
            results[runner.name] = runner.point()
            runners.remove(runner)
            if now > params["seconds"]:
                results |= {other.name: other.point() for other in runners}
                break
    results |= {other.name: other.point() for other in runners if other.name not in results}
    return {"game": params["game"], "results": list(results.values())}


def _linear_program(name: str, built: PublicTree, shown: list[int], channel: Channel) -> dict[str, Any]:
    started = perf_counter()
    _, policy = solve_linear_program(built)
    point = {
        "algorithm": name,
        "iteration": 1,
        "seconds": perf_counter() - started,
        "exploitability": max(nash_conv(policy) / 2, 0.0),
    }
    channel.report(stage="racing", **point, **_policy_report(policy, shown))
    return point


def _policy_report(policy: Policy, shown: list[int]) -> dict[str, Any]:
    """Returns the policy `[A, H]` of the nodes that are drawn, and what the first player wins."""
    return {"value": expected_value(policy), "policy": {str(node): np.round(policy[node], 4) for node in shown}}
