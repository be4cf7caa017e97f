"""Experiments by name. A module is imported only when its experiment is run, so that listing them is quick."""

from __future__ import annotations

import importlib

from aleator.apps.papers.base import Experiment, OnProgress, PaperError, Report, Settings
from aleator.errors import MissingExtraError, check_known


def _of(
    name: str,
    source: str,
    summary: str,
    module: str = "",
    function: str = "run",
    *,
    keeps: bool = False,
    **options: str,
) -> Experiment:
    """Returns an experiment that a function of a module runs, by default of the experiment's name, with `options`."""

    def run(settings: Settings, on_progress: OnProgress) -> Report:
        try:
            package = importlib.import_module(f"aleator.apps.papers.{module or name.replace('-', '_')}")
        except ModuleNotFoundError as missing:
            raise MissingExtraError(str(missing.name), "neural") from missing
        report: Report = getattr(package, function)(settings, on_progress, **options)
        return report

    return Experiment(name=name, source=source, summary=summary, run=run, keeps=keeps)


_EXPERIMENTS = (
    _of("rebel-table2", "ReBeL Table 2, full-game rows",
        "FP and CFR on four variants of Liar's Dice, 1,024 iterations"),
    _of("rebel-liars-dice", "ReBeL Table 2, rows of ReBeL itself",
        "what self-play and search with the networks that come with this package play, in the whole game"),
    _of("rebel-ablation", "ReBeL section 5.3 and 8, App. E and J",
        "random beliefs instead of self-play, a policy network to start with, other searches, on Liar's Dice"),
    _of("rebel-perfect-information", "ReBeL section 5.4",
        "tic-tac-toe and nim by the same self-play with one search iteration, against every opponent"),
    _of("rebel-fig3", "ReBeL Fig. 3",
        "FP, linear FP, FLOP and linear CFR on the same games, to 16,384 iterations"),
    _of("rebel-turn-endgame", "ReBeL Fig. 2 and App. C.2",
        "a turn endgame of hold'em with the shipped value network at its leaves, beside tabular CFR"),
    _of("rebel-hunl", "ReBeL Table 1",
        "what local best response and other agents lose to the agent rebel in whole hands",
        "holdem_lbr", agent="rebel"),
    _of("deepstack-lbr", "DeepStack Table 3",
        "what local best response loses to the agent deepstack in whole hands", "holdem_lbr", agent="deepstack"),
    _of("deepstack-networks", "DeepStack's supplement, Deep Counterfactual Value Networks",
        "Huber losses of the shipped hold'em networks on situations that were never trained on"),
    _of("deepstack-sparse-trees", "DeepStack Table 5",
        "errors of counterfactual values on random rivers by the bet sizes looked at; --full takes 100 rivers"),
    _of("rebel-rps", "ReBeL Fig. 1 and section 6",
        "rock-paper-scissors+ by one-ply search: leaf values need beliefs, safe search a random iteration"),
    _of("rebel-theorem1", "ReBeL Theorem 1",
        "infostate values are the supergradient of the value of a public belief state"),
    _of("rebel-fig5", "ReBeL Fig. 5, left",
        "CFR-D, CFR-AVE, its modified form and FP with exact values at the leaves, on Liar's Dice and Leduc"),
    _of("dcfr-goofspiel", "Brown's thesis, Fig. 3.5",
        "discounting variants of CFR on 5-card Goofspiel, 8,192 iterations"),
    _of("dcfr-example", "Brown's thesis, 3.1.2",
        "payoffs 0, 1, -1,000,000: iterations until the best action is played for certain"),
    _of("dcfr-hunl", "Brown's thesis, Fig. 3.1 to 3.4",
        "discounting variants of CFR in four no-limit hold'em subgames, in kind"),
    _of("mccfr-hunl", "Brown's thesis, Fig. 3.6 and 3.7",
        "linear and initial discounts of MCCFR in two river subgames"),
    _of("holdem-rules", "our own question",
        "22 regret rules on hold'em spots: iterations and time to 0.3 % and 0.1 % of the pot"),
    _of("double-neural-fig3", "Double Neural CFR, Fig. 3",
        "mini-batches and robust sampling on no-limit Leduc, five runs of 1,000 iterations"),
    _of("double-neural-fig5", "Double Neural CFR, Fig. 5, tabular parts",
        "the same on one-card poker with 5 cards"),
    _of("double-neural", "Double Neural CFR, Fig. 4, and the neural part of Fig. 5",
        "both networks, either, or tables on no-limit Leduc and one-card poker; --full runs 1,000 iterations",
        "double_neural_networks", keeps=True),
    _of("warm-start-matrix", "Brown's thesis, Fig. 3.8",
        "CFR that is warm started in every iteration, on 64 random 100x100 games"),
    _of("warm-start-leduc", "Brown's thesis, Fig. 3.9, on Leduc",
        "CFR that is warm started once, after 100, 500 and 2,500 iterations"),
    _of("rbp-leduc", "Brown's thesis, Fig. 3.13a and 3.14a",
        "partial and regret-based pruning on Leduc with CFR, CFR+ and DCFR", "rbp", game="leduc"),
    _of("rbp-leduc5", "Brown's thesis, Fig. 3.13b and 3.14b",
        "the same on Leduc-5", "rbp", game="leduc:5"),
    _of("rbp-thresholds", "Brown's thesis, Fig. 3.15",
        "how long pruning must be expected to last before it begins, on Leduc-5", "rbp", "run_thresholds"),
    _of("thresholding-leduc", "Brown's thesis, Fig. 3.16 and 3.17, Leduc",
        "dynamic thresholding with Hedge and with the excessive gap technique", "thresholding", game="leduc"),
    _of("thresholding-leduc5", "Brown's thesis, Fig. 3.16 and 3.17, Leduc-5",
        "the same on Leduc-5", "thresholding", game="leduc:5"),
    _of("brp-leduc", "Brown's thesis, Fig. 3.18 and 3.20",
        "space and convergence of best-response pruning on Leduc", "brp", game="leduc"),
    _of("brp-leduc5", "Brown's thesis, Fig. 3.19 and 3.21",
        "the same on Leduc-5", "brp", game="leduc:5"),
    _of("regret-transfer", "Brown's thesis, Fig. 4.5",
        "Leduc whose bets change after a million iterations: from scratch, with all regrets, with weighed ones",
        keeps=True),
    _of("regret-transfer-public", "Brown's thesis, Fig. 4.5",
        "the same with the public card sampled only, and all hands walked", "regret_transfer", keeps=True,
        scheme="public-chance"),
    _of("parameter-optimisation", "Brown's thesis, Fig. 4.6 and 4.7",
        "Leduc's bet sizes that are best for the second player, from three starts, and exact values around them"),
    _of("opening-bet", "Brown's thesis, Fig. 4.8",
        "the opening raise of no-limit hold'em while a blueprint is trained, from four starts; takes buckets.bin",
        keeps=True),
    _of("growing-abstraction", "Brown's thesis, Fig. 4.9",
        "continuous Leduc: menus that grow while they are solved, beside menus of two, three and five sizes",
        keeps=True),
    _of("holdem-sizes", "Brown's thesis, 4.2.5 and 4.3, on hold'em",
        "six rivers: menus that grew beside ten sizes in value and memory, the best single size beside twenty"),
    _of("safe-coin-toss", "Brown's thesis, 5.1.1 to 5.1.3",
        "unsafe, re-solve, maxmargin and reach search on Coin Toss, exactly"),
    _of("safe-subgames", "Brown's thesis, Tables 5.1 to 5.3",
        "exploitability of the whole policy when every subgame is searched on its own"),
    _of("safe-search-small-flop", "Brown's thesis, Table 5.1",
        "the same on every flop of no-limit flop hold'em with the whole deck, exactly; three bucketed blueprints",
        "safe_search_holdem", keeps=True, table="small-flop"),
    _of("safe-search-large-flop", "Brown's thesis, Table 5.2",
        "the same with two bet sizes: five times as large", "safe_search_holdem", keeps=True, table="large-flop"),
    _of("safe-search-turn", "Brown's thesis, Table 5.3",
        "the same on every turn of no-limit turn hold'em: takes hours", "safe_search_holdem", keeps=True, table="turn"),
    _of("multi-valued", "Brown's thesis, Fig. 5.8",
        "depth-limited solving: exploitability by the number of values of a state"),
    _of("pluribus-small", "Brown's thesis, 6.6",
        "Pluribus' search in one seat of three- to six-player Leduc against blueprints, exactly"),
    _of("pluribus-6max", "Brown's thesis, 6.6",
        "a table of six: a blueprint against scripted agents, search in one seat against five blueprints"),
    _of("nested-search", "Brown's thesis, Table 5.4",
        "answers to off-tree bets by action translation and by nested search"),
    _of("continual-resolving", "DeepStack, Theorem 1 and Fig. 6",
        "continual re-solving on Leduc, with self-play and best-response values, and the oracle at the leaves"),
    _of("fhp-linear-cfr", "Brown's thesis, Fig. 4.3, the dotted line",
        "linear CFR without abstraction or sampling on limit flop hold'em: exact, all 1,755 flops"),
    _of("fhp-deep-cfr", "Brown's thesis, Fig. 4.3",
        "Deep CFR and SD-CFR on limit flop hold'em with the whole deck, exactly evaluated; takes a GPU", keeps=True),
    _of("deep-cfr-leduc", "Brown's thesis, 4.1 and Fig. 4.4; Steinberger 2019",
        "Deep CFR, SD-CFR, NFSP on Leduc over nodes, with seeds; --full leaves out each part, too"),
    _of("neural-comparison", "our own question",
        "tables, Deep CFR, SD-CFR, NFSP, Double Neural CFR and ReBeL over wall time on Leduc and Liar's Dice",
        keeps=True),
    _of("lbr-chumps", "Lisý and Bowling 2017, Table 2",
        "what local best response wins in whole hands of no-limit hold'em against players who ignore cards"),
)  # fmt: skip


def known_experiments() -> tuple[Experiment, ...]:
    """Returns the experiments in the order of the documentation."""
    return _EXPERIMENTS


def find_experiment(name: str) -> Experiment:
    """Returns the experiment of that name.

    Raises:
        PaperError: there is none; the message lists them.
    """
    known = {experiment.name: experiment for experiment in _EXPERIMENTS}
    check_known(name, known, "experiment", PaperError)
    return known[name]
