"""Brown's thesis, Fig. 5.8: exploitability falls with the number of values at the depth limit."""

from __future__ import annotations

from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.games import load_game
from aleator.search.multi_valued import Continuations, bias_continuations, self_generated, solve_depth_limited, spliced
from aleator.solvers.best_response import best_response_value, exploitability
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import CFR as CFR_RULE
from aleator.solvers.regret_rule import CFR_PLUS
from aleator.solvers.solve import prepare
from aleator.trees.policy import Policy
from aleator.trees.public_tree import build_tree
from aleator.trees.subgame import DepthLimit, Subgame, cut

_COUNTS = (1, 2, 3, 4, 6, 8)
_GAMES = {
    "leduc": ((30, 300), _COUNTS, 1000),
    "leduc:nolimit": ((300,), _COUNTS, 1000),
    "leduc:bets=1+2/2+4,cap=2": ((300,), _COUNTS, 1000),
}
_CONVENTION = (
    "Each player solves the first betting round, with values at its end, and then plays the rest as well as that "
    "allows (CFR+ on the whole game with the player's first round held fixed). Exploitability is NashConv / 2, exact. "
    "'values' counts the continuations among which the opponent chooses: the blueprint and best responses by the "
    "self-generative method; 4b is the blueprint and its three biases (fold, call, raise x 10). The blueprint is CFR "
    "after a few iterations."
)
_DEVIATIONS = (
    "The paper's figure is about one off-tree bet in no-limit flop hold'em, and its numbers cannot be read from the "
    "text; here the whole first round of games that can be enumerated is solved at the depth limit. What follows the "
    "limit is solved to the end in every case, so that only the choice at the limit differs. In the paper 16 values "
    "come close to having had the bet in the abstraction; here 3 or 4 are enough, since only a few hands choose. With "
    "a poor blueprint more values make the searcher too careful; a choice of its own (both) does not mend that here. "
    "In flop-holdem:4x2, where a player acts at most twice before the flop, one value does as well as any number."
)


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns exploitability by number of values; quick: Leduc from one blueprint."""
    prepare("cfr+")
    games = {"leduc": ((300,), (1, 2, 4), 300)} if settings.quick else _GAMES
    cases = [(name, quality, counts, its) for name, (qualities, counts, its) in games.items() for quality in qualities]
    rows: list[tuple[Cell, ...]] = []
    panels = {}
    shares = []
    for done, (name, quality, counts, iterations) in enumerate(cases):
        on_progress(done / len(cases), f"{name}, blueprint of {quality} iterations")
        tree = build_tree(load_game(name))
        solver = CFR(tree, CFR_RULE)
        solver.run(quality)
        blueprint = solver.average_policy()
        subgame = cut(tree, 0, DepthLimit(rounds=1))
        generated = [self_generated(blueprint, subgame, player, counts[-1], iterations=iterations) for player in (0, 1)]

        def searched(opponents: list[list[Policy]], own: list[list[Policy]]) -> float:
            total = 0.0
            for searcher in (0, 1):
                mine, theirs = own[searcher], opponents[1 - searcher]
                pair: Continuations = (mine, theirs) if searcher == 0 else (theirs, mine)
                found = solve_depth_limited(subgame, pair, iterations=iterations)  # noqa: B023
                total += completed(spliced(blueprint, subgame, found, searcher), subgame, searcher, iterations)  # noqa: B023
            return total / 2

        alone = [[blueprint], [blueprint]]
        curve = [(float(count), searched([generated[0][:count], generated[1][:count]], alone)) for count in counts]
        for count, found in curve:
            rows.append((name, quality, f"{count:g}", found))
        biased = [bias_continuations(blueprint, player) for player in (0, 1)]
        rows.append((name, quality, "4b", searched(biased, alone)))
        rows.append(
            (name, quality, "4, both players choose", searched(*[[policies[:4] for policies in generated]] * 2))
        )
        trunk = sum(completed(blueprint, subgame, player, iterations) for player in (0, 1)) / 2
        rows.append((name, quality, "blueprint's first round", trunk))
        rows.append((name, quality, "blueprint throughout", exploitability(blueprint)))
        panels[f"{name}, blueprint of {quality} iterations"] = {
            "self-generated": curve,
            "blueprint's first round": [(count, trunk) for count, _ in curve],
        }
        shares.append((f"{name} ({quality})", curve[0][1], min(found for _, found in curve), trunk))
    on_progress(1.0, "")
    return Report(
        title="Exploitability of depth-limited solving by the number of values of a state (thesis Fig. 5.8, in kind)",
        setting="; ".join(
            f"{name}, blueprint of {quality}: {its} iterations per solve" for name, quality, _, its in cases
        ),
        convention=_CONVENTION,
        columns=("game", "blueprint's iterations", "values", "exploitability"),
        rows=tuple(rows),
        panels=panels,
        x_label="values of a state",
        y_label="exploitability (NashConv / 2)",
        deviations=_DEVIATIONS,
        claims=(
            Claim(
                text="exploitability falls as values are added",
                measured="; ".join(f"{name}: {first:.3g} to {best:.3g}" for name, first, best, _ in shares),
                agrees=all(best < 0.5 * first for _, first, best, _ in shares),
            ),
            Claim(
                text="with one value, not searching at all is better",
                measured="; ".join(f"{name}: {first:.3g} against {trunk:.3g}" for name, first, _, trunk in shares),
                agrees=all(first > trunk for _, first, _, trunk in shares),
            ),
        ),
    )


def completed(policy: Policy, subgame: Subgame, player: int, iterations: int) -> float:
    """Returns what the opponent wins at most when the player's part in a subgame is held and the rest is as good as possible."""
    assert subgame.nodes is not None
    solver = CFR(policy.tree, CFR_PLUS)
    solver.lock_policy(policy, subgame.nodes[subgame.tree.actor == player])
    solver.run(iterations)
    return best_response_value(solver.average_policy(), 1 - player)
