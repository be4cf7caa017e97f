"""Experiments by name. A module is imported only when its experiment is run, so that listing them is quick."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from aleator.apps.papers.base import Experiment, OnProgress, PaperError, Report, Settings
from aleator.errors import did_you_mean


def _later(module: str, function: str = "run", **options: str) -> Callable[[Settings, OnProgress], Report]:
    """Returns a function of a module of this package, which is imported at the first call; `options` are passed on."""

    def run(settings: Settings, on_progress: OnProgress) -> Report:
        experiment = getattr(importlib.import_module(f"aleator.apps.papers.{module}"), function)
        report: Report = experiment(settings, on_progress, **options)
        return report

    return run


_EXPERIMENTS = (
    Experiment(
        name="rebel-table2",
        source="ReBeL Table 2, full-game rows",
        summary="FP and CFR on four variants of Liar's Dice, 1,024 iterations",
        run=_later("rebel_table2"),
    ),
    Experiment(
        name="rebel-liars-dice",
        source="ReBeL Table 2, rows of ReBeL itself",
        summary="what self-play and search with the networks that come with this package play, in the whole game",
        run=_later("rebel_liars_dice"),
    ),
    Experiment(
        name="rebel-ablation",
        source="ReBeL section 5.3 and 8, App. E and J",
        summary="random beliefs instead of self-play, a policy network to start with, other searches, on Liar's Dice",
        run=_later("rebel_ablation"),
    ),
    Experiment(
        name="rebel-perfect-information",
        source="ReBeL section 5.4",
        summary="tic-tac-toe and nim by the same self-play with one search iteration, against every opponent",
        run=_later("rebel_perfect_information"),
    ),
    Experiment(
        name="rebel-fig3",
        source="ReBeL Fig. 3",
        summary="FP, linear FP, FLOP and linear CFR on the same games, to 16,384 iterations",
        run=_later("rebel_fig3"),
    ),
    Experiment(
        name="rebel-turn-endgame",
        source="ReBeL Fig. 2 and App. C.2",
        summary="a turn endgame of hold'em with the shipped value network at its leaves, beside tabular CFR",
        run=_later("rebel_turn_endgame"),
    ),
    Experiment(
        name="rebel-hunl",
        source="ReBeL Table 1",
        summary="what local best response and other agents lose to the agent rebel in whole hands",
        run=_later("holdem_lbr", agent="rebel"),
    ),
    Experiment(
        name="deepstack-lbr",
        source="DeepStack Table 3",
        summary="what local best response loses to the agent deepstack in whole hands",
        run=_later("holdem_lbr", agent="deepstack"),
    ),
    Experiment(
        name="deepstack-networks",
        source="DeepStack's supplement, Deep Counterfactual Value Networks",
        summary="Huber losses of the shipped hold'em networks on situations that were never trained on",
        run=_later("deepstack_networks"),
    ),
    Experiment(
        name="rebel-rps",
        source="ReBeL Fig. 1 and section 6",
        summary="rock-paper-scissors+ by one-ply search: leaf values need beliefs, safe search a random iteration",
        run=_later("rebel_rps"),
    ),
    Experiment(
        name="rebel-theorem1",
        source="ReBeL Theorem 1",
        summary="infostate values are the supergradient of the value of a public belief state",
        run=_later("rebel_theorem1"),
    ),
    Experiment(
        name="rebel-fig5",
        source="ReBeL Fig. 5, left",
        summary="CFR-D, CFR-AVE, its modified form and FP with exact values at the leaves, on Liar's Dice and Leduc",
        run=_later("rebel_fig5"),
    ),
    Experiment(
        name="dcfr-goofspiel",
        source="Brown's thesis, Fig. 3.5",
        summary="discounting variants of CFR on 5-card Goofspiel, 8,192 iterations",
        run=_later("dcfr_goofspiel"),
    ),
    Experiment(
        name="dcfr-example",
        source="Brown's thesis, 3.1.2",
        summary="payoffs 0, 1, -1,000,000: iterations until the best action is played for certain",
        run=_later("dcfr_example"),
    ),
    Experiment(
        name="dcfr-hunl",
        source="Brown's thesis, Fig. 3.1 to 3.4",
        summary="discounting variants of CFR in four no-limit hold'em subgames, in kind",
        run=_later("dcfr_hunl"),
    ),
    Experiment(
        name="mccfr-hunl",
        source="Brown's thesis, Fig. 3.6 and 3.7",
        summary="linear and initial discounts of MCCFR in two river subgames",
        run=_later("mccfr_hunl"),
    ),
    Experiment(
        name="holdem-rules",
        source="our own question",
        summary="22 regret rules on hold'em spots: iterations and time to 0.3 % and 0.1 % of the pot",
        run=_later("holdem_rules"),
    ),
    Experiment(
        name="double-neural-fig3",
        source="Double Neural CFR, Fig. 3",
        summary="mini-batches and robust sampling on no-limit Leduc, five runs of 1,000 iterations",
        run=_later("double_neural_fig3"),
    ),
    Experiment(
        name="double-neural-fig5",
        source="Double Neural CFR, Fig. 5, tabular parts",
        summary="the same on one-card poker with 5 cards",
        run=_later("double_neural_fig5"),
    ),
    Experiment(
        name="warm-start-matrix",
        source="Brown's thesis, Fig. 3.8",
        summary="CFR that is warm started in every iteration, on 64 random 100x100 games",
        run=_later("warm_start_matrix"),
    ),
    Experiment(
        name="warm-start-leduc",
        source="Brown's thesis, Fig. 3.9, on Leduc",
        summary="CFR that is warm started once, after 100, 500 and 2,500 iterations",
        run=_later("warm_start_leduc"),
    ),
    Experiment(
        name="rbp-leduc",
        source="Brown's thesis, Fig. 3.13a and 3.14a",
        summary="partial and regret-based pruning on Leduc with CFR, CFR+ and DCFR",
        run=_later("rbp", game="leduc"),
    ),
    Experiment(
        name="rbp-leduc5",
        source="Brown's thesis, Fig. 3.13b and 3.14b",
        summary="the same on Leduc-5",
        run=_later("rbp", game="leduc:5"),
    ),
    Experiment(
        name="rbp-thresholds",
        source="Brown's thesis, Fig. 3.15",
        summary="how long pruning must be expected to last before it begins, on Leduc-5",
        run=_later("rbp", "run_thresholds"),
    ),
    Experiment(
        name="thresholding-leduc",
        source="Brown's thesis, Fig. 3.16 and 3.17, Leduc",
        summary="dynamic thresholding with Hedge and with the excessive gap technique",
        run=_later("thresholding", game="leduc"),
    ),
    Experiment(
        name="thresholding-leduc5",
        source="Brown's thesis, Fig. 3.16 and 3.17, Leduc-5",
        summary="the same on Leduc-5",
        run=_later("thresholding", game="leduc:5"),
    ),
    Experiment(
        name="brp-leduc",
        source="Brown's thesis, Fig. 3.18 and 3.20",
        summary="space and convergence of best-response pruning on Leduc",
        run=_later("brp", game="leduc"),
    ),
    Experiment(
        name="brp-leduc5",
        source="Brown's thesis, Fig. 3.19 and 3.21",
        summary="the same on Leduc-5",
        run=_later("brp", game="leduc:5"),
    ),
    Experiment(
        name="safe-coin-toss",
        source="Brown's thesis, 5.1.1 to 5.1.3",
        summary="unsafe, re-solve, maxmargin and reach search on Coin Toss, exactly",
        run=_later("safe_coin_toss"),
    ),
    Experiment(
        name="safe-subgames",
        source="Brown's thesis, Tables 5.1 to 5.3",
        summary="exploitability of the whole policy when every subgame is searched on its own",
        run=_later("safe_subgames"),
    ),
    Experiment(
        name="multi-valued",
        source="Brown's thesis, Fig. 5.8",
        summary="depth-limited solving: exploitability by the number of values of a state",
        run=_later("multi_valued"),
    ),
    Experiment(
        name="nested-search",
        source="Brown's thesis, Table 5.4",
        summary="answers to off-tree bets by action translation and by nested search",
        run=_later("nested_search"),
    ),
    Experiment(
        name="continual-resolving",
        source="DeepStack, Theorem 1 and Fig. 6",
        summary="continual re-solving on Leduc, with self-play and best-response values, and the oracle at the leaves",
        run=_later("continual_resolving"),
    ),
    Experiment(
        name="fhp-linear-cfr",
        source="Brown's thesis, Fig. 4.3, the dotted line",
        summary="linear CFR without abstraction or sampling on limit flop hold'em: exact, all 1,755 flops",
        run=_later("fhp_linear_cfr"),
    ),
    Experiment(
        name="deep-cfr-leduc",
        source="Brown's thesis, 4.1 and Fig. 4.4; Steinberger 2019",
        summary="Deep CFR and SD-CFR on Leduc over nodes touched, with seeds and bands; --full leaves out each part",
        run=_later("deep_cfr_leduc"),
    ),
    Experiment(
        name="lbr-chumps",
        source="Lisý and Bowling 2017, Table 2",
        summary="what local best response wins in whole hands of no-limit hold'em against players who ignore cards",
        run=_later("lbr_chumps"),
    ),
)


def known_experiments() -> tuple[Experiment, ...]:
    """Returns the experiments in the order of the documentation."""
    return _EXPERIMENTS


def find_experiment(name: str) -> Experiment:
    """Returns the experiment of that name.

    Raises:
        PaperError: there is none; the message lists them.
    """
    known = {experiment.name: experiment for experiment in _EXPERIMENTS}
    if name in known:
        return known[name]
    hint = did_you_mean(name, known)
    raise PaperError(f"unknown experiment {name!r}; {hint}known: {', '.join(known)}")
