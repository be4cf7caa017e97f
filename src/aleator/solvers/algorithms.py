"""Every algorithm that can be named: what it is, where it comes from, what can be set, and how its solver is made.

The command line, the catalogue and the forms of the web app, the tables of the documentation and all defaults come from
`ALGORITHMS`. Reading a name, `find_algorithm("mccfr:robust3,batch=1000")`, loads no solver.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from re import split
from typing import TYPE_CHECKING, Any, TypeVar

from aleator.errors import SolveError, did_you_mean, shown
from aleator.parsing import MAX_THREADS, check_name
from aleator.settings import PLACED, Setting, check_settings, parse_settings, setting, settings_of, usage
from aleator.solvers import regret_rule as rules
from aleator.solvers.fictitious_rule import FICTITIOUS_PLAY, FLOP, LINEAR_FICTITIOUS_PLAY, FictitiousRule
from aleator.solvers.pruning_rule import BEST_RESPONSE, PARTIAL, REGRET_BASED, PruningRule
from aleator.solvers.regret_rule import HEDGE, RegretRule
from aleator.solvers.sampling_rule import LINEAR, SamplingRule

if TYPE_CHECKING:
    from aleator.solvers.state import TreeSolver
    from aleator.trees.public_tree import PublicTree

DEFAULT_ALGORITHM = "dcfr"
DTYPES = ("float64", "float32")


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRule:
    """How the excessive gap technique walks the tree; `egt` has the algorithm."""

    threshold: float = setting(
        0.0,
        least=0.0,
        help="c: histories that chance and the opponent reach with a probability below c / t are left out",
    )

    def __post_init__(self) -> None:
        check_settings(self, SolveError)


Rule = RegretRule | FictitiousRule | SamplingRule | PruningRule | GapRule | None
AnyRule = TypeVar("AnyRule", RegretRule, FictitiousRule, SamplingRule, PruningRule, GapRule)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Algorithms that share a solver.

    Attributes:
        title: what they have in common.
        solver: its module and class, made from a tree and a rule; empty if there are no iterations.
        options: what else it takes: dtype, threads, seed.
        dtypes: the precisions it computes in.
        counts_nodes: it counts the nodes it touches; others touch all in every iteration.
        samples: it has a seed.
    """

    title: str
    solver: str
    options: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = DTYPES
    counts_nodes: bool = False
    samples: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Algorithm:
    """An algorithm, with the settings it was given or with those of its name alone.

    Attributes:
        name: as it is typed.
        family: what it shares with others.
        summary: what it is, in a line.
        reference: the paper, with the section or equation.
        rule: its configuration.
        settings: what can be typed behind the name; their defaults are those of the rule.
        variants: settings worth a row in a list, as they are typed, each with a summary and a reference.
    """

    name: str
    family: Family
    summary: str
    reference: str
    rule: Rule = None
    settings: tuple[Setting, ...] = ()
    variants: tuple[tuple[str, str, str], ...] = ()

    @property
    def exact(self) -> bool:
        """Whether it solves a game at once, without iterations."""
        return not self.family.solver

    @property
    def runs_on_boards(self) -> bool:
        """Whether the engine of hold'em has it: the CFR family without Hedge, players in turn."""
        return isinstance(self.rule, RegretRule) and self.rule.alternating and self.rule.minimiser != HEDGE

    @property
    def usage(self) -> str:
        """How it is written."""
        return usage(self.name, self.settings)

    def configured(self, text: str) -> Algorithm:
        """Returns the algorithm with what is typed behind its name, as `batch=1000` or `1.5,0,4/simultaneous`."""
        values = parse_settings(self.name, text, self.settings, error=SolveError)
        rule: Any = self.rule
        if isinstance(rule, PruningRule) and "alternating" in values:  # belongs to the rule that is pruned
            base = values.get("rule", rule.rule)
            values["rule"] = replace(base, alternating=values.pop("alternating"))
        return replace(self, rule=replace(rule, **values)) if values else self

    def make_solver(self, tree: PublicTree, *, dtype: str = "float64", threads: int = 1, seed: int = 0) -> TreeSolver:
        """Returns a solver of a tree at its beginning; the seed matters to those that sample.

        Raises:
            SolveError: an unknown precision, an impossible number of threads, or an algorithm without iterations.
        """
        if dtype not in self.family.dtypes:
            if dtype in DTYPES:
                raise SolveError(f"{self.name} computes in float64 only, not in {dtype}")
            raise SolveError(f"unknown precision {shown(dtype)}; allowed: {', '.join(DTYPES)}")
        if not 1 <= threads <= MAX_THREADS:
            raise SolveError(f"threads must be at least 1 and at most {MAX_THREADS:,}, not {shown(threads)}")
        if self.exact:
            raise SolveError(f"{self.name} solves a game at once and has no iterations: use aleator.solve")
        module, _, name = self.family.solver.partition(":")
        given = {"dtype": dtype, "threads": threads, "seed": seed}
        solver: TreeSolver = getattr(import_module(f"aleator.solvers.{module}"), name)(
            tree, self.rule, **{option: given[option] for option in self.family.options}
        )
        return solver

    def describe(self) -> dict[str, Any]:
        """Returns everything as a JSON value."""
        return {
            "name": self.name, "group": self.family.title, "summary": self.summary, "reference": self.reference,
            "usage": self.usage, "settings": [one.describe() for one in self.settings],
            "variants": [
                {"name": f"{self.name}:{text}", "summary": summary, "reference": reference}
                for text, summary, reference in self.variants
            ],
            "exact": self.exact, "samples": self.family.samples, "counts_nodes": self.family.counts_nodes,
            "precisions": list(self.family.dtypes), "holdem": self.runs_on_boards,
            "default": self.name == DEFAULT_ALGORITHM,
        }  # fmt: skip


def find_algorithm(text: str) -> Algorithm:
    """Returns the algorithm of a name such as `cfr+`, `dcfr:1.5,0,4/simultaneous` or `mccfr:robust3,batch=1000`.

    Raises:
        SolveError: there is none, or a setting is not allowed; the message says what is.
    """
    return _find(text, ALGORITHMS, "algorithm")


def _find(text: str, allowed: Mapping[str, Algorithm], what: str) -> Algorithm:
    check_name(text, "an algorithm", error=SolveError)
    name = split("[:,/]", text, maxsplit=1)[0]
    if name not in allowed:
        raise SolveError(f"unknown {what} {shown(text)}; {did_you_mean(name, allowed)}allowed: {', '.join(allowed)}")
    return allowed[name].configured(text[len(name) :].removeprefix(":").removeprefix(","))


def rule_of(kind: type[AnyRule], text: str) -> AnyRule:
    """Returns the rule of an algorithm of one family.

    Raises:
        SolveError: there is none of that name, or it is of another family.
    """
    allowed = {name: known for name, known in ALGORITHMS.items() if isinstance(known.rule, kind)}
    rule = _find(text, allowed, f"{kind.__name__.removesuffix('Rule').lower()} rule").rule
    assert isinstance(rule, kind)
    return rule


def parse_rule(text: str) -> RegretRule:
    """Returns the regret rule of a name: `cfr+`, `dcfr:1.5,0,4`, `pcfr+/simultaneous`."""
    return rule_of(RegretRule, text)


_FLOAT64 = ("float64",)
_REGRETS = Family(title="Regrets", solver="cfr:CFR", options=("dtype", "threads"))
_RESPONSES = Family(title="Best responses", solver="fictitious_play:FictitiousPlay", options=("dtype", "threads"))
_SAMPLING = Family(
    title="Sampling", solver="mccfr:MCCFR", options=("dtype", "threads", "seed"), counts_nodes=True, samples=True
)
_PRUNING = Family(title="Pruning", solver="pruned_cfr:PrunedCFR", dtypes=_FLOAT64, counts_nodes=True)
_FIRST_ORDER = Family(title="First order", solver="egt:EGT", dtypes=_FLOAT64, counts_nodes=True)
_EXACT = Family(title="Exact", solver="", dtypes=_FLOAT64)


def _regrets(name: str, rule: RegretRule, summary: str, reference: str, *exponents: str, **more: Any) -> Algorithm:
    settings = settings_of(rule, *exponents, "alternating")
    return Algorithm(
        name=name, family=_REGRETS, summary=summary, reference=reference, rule=rule, settings=settings, **more
    )


def _responses(name: str, rule: FictitiousRule, summary: str) -> Algorithm:
    return Algorithm(
        name=name, family=_RESPONSES, summary=summary, reference="ReBeL App. D", rule=rule, settings=settings_of(rule)
    )


def _sampling(name: str, rule: SamplingRule, summary: str, reference: str, **more: Any) -> Algorithm:
    return Algorithm(
        name=name, family=_SAMPLING, summary=summary, reference=reference, rule=rule, settings=settings_of(rule), **more
    )


def _pruning(rule: PruningRule, summary: str, reference: str, **more: Any) -> Algorithm:
    base = Setting(name="rule", form=PLACED, default="cfr", read=parse_rule, help="the regret rule that is pruned")
    settings = (base, *settings_of(rule), *settings_of(rule.rule, "alternating"))
    return Algorithm(
        name=rule.method, family=_PRUNING, summary=summary, reference=reference, rule=rule, settings=settings, **more
    )


_XU = "Xu et al. 2024, arXiv 2404.13891"
_ZHANG = "Zhang, McAleer, Sandholm 2024, arXiv 2404.09097"
_LANCTOT = "Lanctot et al. 2009; thesis 2.3.6"

ALGORITHMS: dict[str, Algorithm] = {
    known.name: known
    for known in (
        _regrets("cfr", rules.CFR, "vanilla CFR (2007)", "thesis 2.3.5"),
        _regrets("rm+", rules.RM_PLUS, "CFR with regret matching+: regrets never fall below zero", "thesis 2.3.7"),
        _regrets("cfr+", rules.CFR_PLUS, "CFR+, which solved limit hold'em (2014): linear averaging", "thesis 2.3.7"),
        _regrets("cfr+quadratic", rules.CFR_PLUS_QUADRATIC, "CFR+ with quadratic averaging", "thesis 3.1.1"),
        _regrets("lcfr", rules.LCFR, "linear CFR: late iterations weigh more", "thesis 3.1.2"),
        _regrets("lcfr+", rules.LCFR_PLUS, "linear CFR+", "thesis 3.1.2"),
        _regrets(
            "dcfr", rules.DCFR, "discounted CFR (2019), the default", "thesis 3.1.2", "alpha", "beta", "gamma",
            variants=(("1.5,0,4", "discounted CFR with a steeper average", "thesis 3.1.2"),),
        ),
        _regrets("dcfr+", rules.DCFR_PLUS, "discounted CFR+", _XU),
        _regrets(
            "sharp-dcfr+", rules.SHARP_DCFR_PLUS, "discounted CFR+ with sharp matching, the default for hold'em",
            "ours; polynomial links: Greenwald, Li, Marks 2006, arXiv 1912.02967",
        ),
        _regrets(
            "pcfr+", rules.PCFR_PLUS, "predictive CFR+: assumes that the next step resembles the last",
            "Farina, Kroer, Sandholm 2021, arXiv 2007.14358",
        ),
        _regrets("pdcfr+", rules.PDCFR_PLUS, "predictive and discounted CFR+", _XU),
        _regrets("hs-dcfr", rules.HS_DCFR, "discounted CFR with a hyper-parameter schedule", _ZHANG),
        _regrets("hs-pcfr+", rules.HS_PCFR_PLUS, "predictive CFR+ with a hyper-parameter schedule", _ZHANG),
        _regrets("hedge", rules.HEDGE_RULE, "CFR with Hedge instead of regret matching", "thesis 2.3.3, 3.4.3"),
        _responses("fp", FICTITIOUS_PLAY, "fictitious play (1951): best response to the average"),
        _responses("linear-fp", LINEAR_FICTITIOUS_PLAY, "fictitious play, late iterations weigh more"),
        _responses("flop", FLOP, "fictitious linear optimistic play, of ReBeL"),
        _sampling(
            "mccfr", SamplingRule(), "Monte Carlo CFR, external sampling", _LANCTOT,
            variants=(
                ("outcome", "one history per iteration", _LANCTOT),
                ("chance", "only chance is sampled", "Zinkevich et al. 2007"),
                ("public-chance", "only what everybody sees of chance is sampled", "Johanson et al. 2012"),
                ("robust3", "three actions at a time", "Double Neural CFR, Eq. 10"),
                ("robust3,batch=1000", "a thousand traversals per player and iteration", "Double Neural CFR, Eq. 11"),
            ),
        ),
        _sampling(
            "mccfr+", SamplingRule(floor=True, gamma=1.0), "Monte Carlo CFR with regret matching+",
            "Double Neural CFR, Eq. 11",
        ),
        _sampling(
            "lmccfr", SamplingRule(discount=LINEAR), "linear Monte Carlo CFR, by periods of touched nodes",
            "thesis 3.1.5",
        ),
        _pruning(
            PruningRule(method=PARTIAL), "partial pruning: CFR that skips hands the opponent cannot hold", "thesis 3.3",
            variants=(("cfr,respond", "best responses below one's own actions of probability zero", "thesis 3.3.1"),),
        ),
        _pruning(
            PruningRule(method=REGRET_BASED, respond=True),
            "regret-based pruning: skips actions while they cannot matter", "thesis 3.3.2 to 3.3.6",
            variants=(("hedge,threshold=0.5", "dynamic thresholding, which lets Hedge be pruned", "thesis 3.4"),),
        ),
        _pruning(
            PruningRule(method=BEST_RESPONSE, greedy=True), "best-response pruning, which frees memory, too",
            "thesis 3.5",
        ),
        Algorithm(
            name="egt", family=_FIRST_ORDER, summary="excessive gap technique with the dilated entropy",
            reference="Nesterov 2005; Hoda et al. 2010; Kroer et al. 2020; thesis 3.4.3", rule=GapRule(),
            settings=settings_of(GapRule()),
        ),
        Algorithm(
            name="lp", family=_EXACT, summary="sequence-form linear program: exact, no iterations, for small games",
            reference="thesis 2.3.8; von Stengel 1996; Koller, Megiddo, von Stengel 1996",
        ),
    )
}  # fmt: skip
NAMED_RULES: dict[str, RegretRule] = {
    name: known.rule for name, known in ALGORITHMS.items() if isinstance(known.rule, RegretRule)
}
