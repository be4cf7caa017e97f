"""Pluribus at a table of six: a blueprint against scripted agents, and search in one seat against five blueprints."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from aleator.abstraction.buckets import BucketConfig
from aleator.abstraction.build import build_buckets
from aleator.abstraction.ring.training import RingConfig, RingTrainer
from aleator.agents.whole_hands.base import HandAgent
from aleator.agents.whole_hands.pluribus import PluribusAgent, pluribus_agent
from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.agents.whole_hands.ring_blueprint import ring_blueprint_agent
from aleator.agents.whole_hands.search_settings import PluribusSettings
from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.arena.whole_hands.paired import play_paired
from aleator.arena.whole_hands.play import TABLE, DecisionTimes, play_hands
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import BettingRules
from aleator.games.holdem.variants import HoldemVariant, load_hand_game

FILE = Path("6max.blueprint")
_SCRIPTED = ("always-call", "random", "tight-aggressive")
_SMALL = HoldemVariant(
    name="small ring",
    title="no-limit hold'em of three players that ends after the flop, stacks of 20 big blinds",
    rules=BettingRules(num_players=3, small_blind=50, big_blind=100, num_streets=2),
    stack=2_000,
)
_CONVENTION = (
    "Milli-big-blinds a hand of the agent in one seat, 100 big blinds each, ± half of a 95 % interval; each deal is "
    "played once for every seat of the agent, and AIVAT takes off the luck of the cards and of everybody's dice. What "
    "search wins is what it wins more than the blueprint from the flop on: the blueprint wins nothing against itself. "
    "Guarded, it plays the blueprint with hands that this is better for, if both play the blueprint on."
)
_DEVIATIONS = (
    "Pluribus' matches were against people: 48 ± 25 mbb/h over 10,000 hands. Its blueprint took 12,400 core-hours and "
    "any number of players saw a flop; this one takes minutes, and two see a flop."
)


class _Match(NamedTuple):
    """An agent in one seat against copies of another in all others: its name here, both, and how many hands."""

    name: str
    first: HandAgent
    second: HandAgent
    hands: int


class _Result(NamedTuple):
    """A match: the first agent's score and half of its 95 % interval in mbb/h, by AIVAT and by chips; its times."""

    fair: tuple[float, float]
    chips: tuple[float, float]
    times: DecisionTimes


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns the matches; quick: three players, to the flop, a few buckets and seconds of training."""
    game = _SMALL if settings.quick else load_hand_game("6max")
    others = game.rules.num_players - 1
    rows: list[tuple[Cell, ...]] = []
    claims: list[Claim] = []
    with TemporaryDirectory() as folder:
        file, trained = _blueprint(settings, game, Path(folder), on_progress)
        blueprint = ring_blueprint_agent(file, game=game)
        searches = PluribusSettings(flop=100) if settings.quick else PluribusSettings()
        count, searched = int(settings.choose(60, 6_000, 60_000)), int(settings.choose(90, 7_200, 24_000))
        plan: list[_Match] = [_Match("blueprint", blueprint, load_hand_agent(name), count) for name in _SCRIPTED]
        for name, guard in (("pluribus", False), ("pluribus, guarded", True)):
            agent = pluribus_agent(file, replace(searches, guard=guard), game=game)
            plan.append(_Match(name, agent, blueprint, searched))
        for number, (name, first, second, hands) in enumerate(plan):
            title = f"{name} against {others} times {second.name.partition(':')[0]}"
            on_progress(0.5 + 0.1 * number, title)
            result = _match(game, first, second, hands, settings.seed)
            mean = result.times.seconds / max(result.times.decisions, 1)
            rows.append((title, hands, *result.fair, *result.chips, mean, result.times.slowest))
            is_search = isinstance(first, PluribusAgent)
            claims.append(
                Claim(
                    text=f"{title}: {'at least 50, at ± 50 or less' if is_search else 'more than 0'} mbb/h",
                    measured=f"{result.fair[0]:+,.0f} ± {result.fair[1]:,.0f}",
                    agrees=result.fair[0] >= 50.0 >= result.fair[1] if is_search else result.fair[0] > result.fair[1],
                )
            )
    on_progress(1.0, "")
    return Report(
        title="A table of six: blueprint and search (thesis 6.6, in kind)",
        setting=trained,
        convention=_CONVENTION,
        columns=("match", "hands", "mbb/h", "±", "by chips", "± by chips", "seconds a decision", "slowest"),
        rows=tuple(rows),
        panels={"score": {"by AIVAT": [(place + 1.0, float(str(row[2]))) for place, row in enumerate(rows)]}},
        x_label="match",
        y_label="mbb/h",
        deviations=_DEVIATIONS,
        claims=tuple(claims),
    )


def _match(game: HoldemVariant, first: HandAgent, second: HandAgent, hands: int, seed: int) -> _Result:
    """Returns what an agent wins in one seat against copies of another in all others."""
    players, times = game.rules.num_players, DecisionTimes()
    agents, paired = [first] + [second] * (players - 1), isinstance(first, PluribusAgent)
    size = max(1, min(first.hands_at_once, second.hands_at_once) // players) * players
    fair, chips = list[FloatArray](), list[FloatArray]()
    for start in range(0, hands, size):
        numbers = np.arange(start, min(start + size, hands))
        if paired:
            pairs = play_paired(game.setup, agents, numbers, seed, street=1, blueprint=second)
            played, won, raw = pairs.played, pairs.fair, pairs.won
        else:
            played = play_hands(game.setup, agents, numbers, seed, aivat=TABLE)
            fair_won, raw = played.fair_winnings(0), played.winnings(0)
            assert fair_won is not None
            won = fair_won
        fair.append(won)
        chips.append(raw)
        if played is not None:
            times.merge(played.times[0])
    scale = 1000.0 / game.rules.big_blind
    return _Result(_score(np.concatenate(fair) * scale, players), _score(np.concatenate(chips) * scale, players), times)


def _score(won: FloatArray, players: int) -> tuple[float, float]:
    """Returns the mean, and half of its 95 % interval over deals."""
    deals = won.reshape(-1, players).mean(axis=1)
    return float(deals.mean()), 1.96 * float(deals.std(ddof=1)) / math.sqrt(len(deals))


def _blueprint(settings: Settings, game: HoldemVariant, folder: Path, on_progress: OnProgress) -> tuple[Path, str]:
    """Returns a blueprint and what it is: the one in the working directory, or one that is trained now."""
    if FILE.exists() and not settings.quick:
        return FILE.absolute(), f"the blueprint of {FILE}"
    on_progress(0.0, "buckets")
    config, ring = BucketConfig(), RingConfig(period=150_000, threshold=25.0)
    if settings.quick:
        config = BucketConfig(game="nolimit-flop", buckets=(10,), features=("equity",), boards=50, hands=32, rounds=3)
        ring = RingConfig(menu=("100%; all-in",) * 4, period=5_000, linear_periods=3)
    threads = settings.workers.count
    buckets = build_buckets(config, folder / "buckets.bin", threads=threads)
    trainer = RingTrainer(ring, buckets, folder / "buckets.bin", game=game)
    on_progress(0.25, "training")
    trainer.run(seconds=math.inf if settings.quick else settings.choose(0.0, 600.0, 3600.0),
                deals=30_000 if settings.quick else math.inf, threads=threads)  # fmt: skip
    trainer.save(folder / FILE)
    done = trainer.progress
    speed = done.visits / max(done.seconds, 1e-9) / threads
    return folder / FILE, (
        f"{game.title}; trained for {done.seconds:,.0f} s on {threads} threads: "
        f"{done.deals:,} deals, {speed / 1e6:.1f} million visits a second and thread"
    )
