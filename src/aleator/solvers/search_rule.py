"""Search rules: how a depth-limited subgame is solved, as values of one frozen dataclass.

Reference: ReBeL section 5.1, App. D (FLOP) and App. E (CFR-D, CFR-AVE and its modified form); section 5.4 (minimax).
"""

from __future__ import annotations

from dataclasses import dataclass

from aleator.errors import SolveError, check_known
from aleator.solvers.algorithms import ALGORITHMS
from aleator.solvers.fictitious_rule import FictitiousRule
from aleator.solvers.minimax import MinimaxRule, check_one_hand
from aleator.solvers.regret_rule import LCFR, SHARP_MATCHING, RegretRule

CURRENT, AVERAGE, DIFFERENCE = "current", "average", "difference"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRule:
    """How a depth-limited subgame is solved.

    Attributes:
        update: a rule of the CFR family or of fictitious play; or minimax, which solves a subgame of a game of perfect
            information in one iteration.
        leaves: at which beliefs leaves are valued: "current" (CFR-D), "average" (CFR-AVE, fictitious play) or
            "difference" (modified CFR-AVE).
    """

    update: RegretRule | FictitiousRule | MinimaxRule = LCFR
    leaves: str = CURRENT

    def __post_init__(self) -> None:
        if self.leaves not in (CURRENT, AVERAGE, DIFFERENCE):
            raise SolveError(f"no {self.leaves!r} beliefs to value leaves at; allowed: current, average, difference")
        if self.fictitious and self.leaves != AVERAGE:
            raise SolveError(f"fictitious play values leaves at average beliefs, not at {self.leaves!r} ones")
        if self.minimax and self.leaves != CURRENT:
            raise SolveError(f"minimax has no {self.leaves!r} beliefs to value leaves at; allowed: current")

    @property
    def minimax(self) -> bool:
        """Whether one iteration solves a subgame, because there is nothing to believe."""
        return isinstance(self.update, MinimaxRule)

    @property
    def fictitious(self) -> bool:
        """Whether the policies of an iteration are best responses, which are pure."""
        return isinstance(self.update, FictitiousRule)

    @property
    def oracle(self) -> bool:
        """Whether leaves have to be solved: CFR-AVE evaluates solutions for average policies at current ones."""
        return isinstance(self.update, RegretRule) and self.leaves == AVERAGE

    def check(self, game: str, num_hands: int) -> None:
        """Raises SolveError if subgames of a game with up to so many hands cannot be solved by this rule."""
        if self.minimax:
            check_one_hand(game, num_hands)

    @property
    def gamma(self) -> float:
        """Exponent of the weight t^gamma that a player's t-th policy has in the average; 0 where there is only one."""
        if isinstance(self.update, RegretRule):
            return self.update.gamma
        return float(isinstance(self.update, FictitiousRule) and self.update.linear)


SEARCH_RULES: dict[str, SearchRule] = {
    "cfr-d": SearchRule(),
    "discounted-cfr-d": SearchRule(update=RegretRule(alpha=1.5, beta=0.5, gamma=1.0)),
    "sharp-cfr-d": SearchRule(update=RegretRule(alpha=1.5, beta=0.5, gamma=1.0, minimiser=SHARP_MATCHING)),
    "cfr-ave": SearchRule(leaves=AVERAGE),
    "modified-cfr-ave": SearchRule(leaves=DIFFERENCE),
    **{
        name: SearchRule(update=known.rule, leaves=AVERAGE)
        for name, known in ALGORITHMS.items()
        if isinstance(known.rule, FictitiousRule)
    },
    "minimax": SearchRule(update=MinimaxRule()),
}


def find_rule(rule: SearchRule | str) -> SearchRule:
    """Returns a rule, looked up in `SEARCH_RULES` if it is given by its name."""
    if isinstance(rule, SearchRule):
        return rule
    check_known(rule, SEARCH_RULES, "search rule")
    return SEARCH_RULES[rule]
