"""Brown's thesis, Fig. 5.8: exploitability falls with the number of values at the depth limit."""

from __future__ import annotations

from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.games import load_game
from aleator.search.multi_valued import Continuations, bias_continuations, self_generated, solve_depth_limited
from aleator.search.trunk import trunk_exploitability
from aleator.solvers.best_response import exploitability
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import CFR as CFR_RULE
from aleator.solvers.solve import prepare
from aleator.trees.policy import Policy
from aleator.trees.public_tree import build_tree
from aleator.trees.subgame import DepthLimit, cut, part_of

_COUNTS = (1, 2, 3, 4, 6, 8)
_GAMES = {
    "leduc": ((30, 300), _COUNTS, 1000),
    "leduc:nolimit": ((300,), _COUNTS, 1000),
    "leduc:bets=1+2/2+4,cap=2": ((300,), _COUNTS, 1000),
}
TRUNK = "blueprint's first round"
_CONVENTION = (
    "Each player solves the first betting round, with values at its end, and then plays the rest as well as that "
    "allows (CFR on the whole game with the player's first round held fixed). Exploitability is NashConv / 2, exact. "
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
    panels, results = {}, {}
    for done, (name, quality, counts, iterations) in enumerate(cases):
        title = f"{name}, blueprint of {quality} iterations"
        on_progress(done / len(cases), title)
        case = results[title] = Case(name, quality, counts, iterations)
        rows += [(name, quality, f"{count:g}", value) for count, value in case.curve]
        rows += [(name, quality, what, value) for what, value in case.others.items()]
        panels[title] = {"self-generated": case.curve, TRUNK: [(count, case.others[TRUNK]) for count, _ in case.curve]}
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
                measured="; ".join(f"{title}: {case.first:.3g} to {case.best:.3g}" for title, case in results.items()),
                agrees=all(case.best < 0.5 * case.first for case in results.values()),
            ),
            Claim(
                text="with one value, not searching at all is better",
                measured="; ".join(
                    f"{title}: {case.first:.3g} against {case.others[TRUNK]:.3g}" for title, case in results.items()
                ),
                agrees=all(case.first > case.others[TRUNK] for case in results.values()),
            ),
        ),
    )


class Case:
    """The first betting round of a game, solved in every way from one blueprint.

    Attributes:
        curve: (number of values, exploitability) with self-generated continuations.
        others: exploitability with other continuations, and without search.
    """

    def __init__(self, name: str, quality: int, counts: tuple[int, ...], iterations: int) -> None:
        tree = build_tree(load_game(name))
        solver = CFR(tree, CFR_RULE)
        solver.run(quality)
        self._blueprint = solver.average_policy()
        self._subgame = cut(tree, 0, DepthLimit(rounds=1))
        self._iterations = iterations
        alone = [[self._blueprint]] * 2
        made = [
            self_generated(self._blueprint, self._subgame, player, counts[-1], iterations=iterations)
            for player in (0, 1)
        ]
        first_few = [[policies[:count] for policies in made] for count in counts]
        self.curve = [(float(len(few[0])), self._searched(few, alone)) for few in first_few]
        biased = [bias_continuations(self._blueprint, player) for player in (0, 1)]
        four = [policies[:4] for policies in made]
        self.others = {
            "4b": self._searched(biased, alone),
            "4, both players choose": self._searched(four, four),
            TRUNK: trunk_exploitability(self._subgame, part_of(self._blueprint, self._subgame), iterations=iterations),
            "blueprint throughout": exploitability(self._blueprint),
        }
        self.first, self.best = self.curve[0][1], min(value for _, value in self.curve)

    def _searched(self, theirs: list[list[Policy]], own: list[list[Policy]]) -> float:
        """Returns the exploitability when each player solves the round with both players' continuations."""
        parts = []
        for searcher in (0, 1):
            pair: Continuations = (own[0], theirs[1]) if searcher == 0 else (theirs[0], own[1])
            solution = solve_depth_limited(self._subgame, pair, iterations=self._iterations)
            parts.append(solution.probabilities[searcher])
        policy = Policy(self._subgame.tree, (parts[0], parts[1]))
        return trunk_exploitability(self._subgame, policy, iterations=self._iterations)
