"""Sampling rules: the MCCFR family as values of one frozen dataclass; how it samples is in `mccfr`."""

from __future__ import annotations

from dataclasses import dataclass

from aleator.errors import SolveError
from aleator.parsing import MAX_ITERATIONS
from aleator.settings import ATTACHED, WORD, check_settings, setting

EXTERNAL, OUTCOME, ROBUST, CHANCE, PUBLIC_CHANCE = "external", "outcome", "robust", "chance", "public-chance"
SCHEMES = (EXTERNAL, OUTCOME, ROBUST, CHANCE, PUBLIC_CHANCE)
NO_DISCOUNT, LINEAR, INITIAL = "none", "linear", "initial"
DISCOUNTS = (NO_DISCOUNT, LINEAR, INITIAL)
NO_SKIPPING, LIBRATUS, PLURIBUS = "none", "libratus", "pluribus"
SKIPPINGS = (NO_SKIPPING, LIBRATUS, PLURIBUS)
MAX_ACTIONS = 10_000
MAX_BATCH = 1_000_000  # an iteration is not interrupted; more iterations do as well as larger ones
MAX_GAMMA = 1000.0  # in the average policy iterations before the last hundredth then count for nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingRule:
    """What is sampled, and what becomes of the sampled regrets.

    Attributes:
        actions: robust sampling explores so many actions of the traverser.
        floor: regrets never fall below zero (MCCFR+).
    """

    scheme: str = setting(EXTERNAL, form=WORD, choices=SCHEMES, metavar="SCHEME", help="what a traversal samples")
    actions: int = setting(
        3, name=ROBUST, form=ATTACHED, least=1, most=MAX_ACTIONS, unit="actions",
        help="how many of the traverser's robust sampling explores",
    )  # fmt: skip
    exploration: float = setting(
        0.6, name="epsilon", least=0.0, most=1.0,
        help="outcome sampling draws the traverser's action uniformly with this probability, else by its policy",
    )  # fmt: skip
    batch: int = setting(
        1,
        least=1,
        most=MAX_BATCH,
        unit="traversals",
        help="how many a player makes in an iteration; regrets are their average",
    )
    floor: bool = False
    gamma: float = setting(0.0, least=0.0, most=MAX_GAMMA, help="iteration t has weight t^gamma in the average policy")
    discount: str = setting(
        NO_DISCOUNT, choices=DISCOUNTS,
        help="linear: regrets and sums of policies times n / (n + 1) after period n; initial: by 1/10 after the first",
    )  # fmt: skip
    period: int = setting(10_000_000, least=1, unit="nodes touched", help="of the discount")
    skip: str = setting(NO_SKIPPING, choices=SKIPPINGS, help="how actions with very negative regret are skipped")
    threshold: float = setting(
        -30_000.0, most=0.0, open_ends=True, unit="regret",
        help="C: actions below may be skipped; far below what luck does, the largest payoff times root iterations",
    )  # fmt: skip
    constant: float = setting(
        10_000.0, least=0.0, open_ends=True, unit="regret",
        help="K: Libratus explores an action with regret R < C with probability K / (K + C - R)",
    )  # fmt: skip
    rate: float = setting(0.95, least=0.0, most=1.0, help="the share of traversals in which Pluribus skips")
    skip_from: int = setting(1, name="from", least=1, most=MAX_ITERATIONS, help="the first iteration that skips")

    def __post_init__(self) -> None:
        check_settings(self, SolveError)
        if self.skip != NO_SKIPPING and self.scheme != EXTERNAL:
            raise SolveError(f"actions are skipped in external sampling only, not in {self.scheme} sampling")
