"""Matches of whole hands for `aleator match` and `aleator lbr`: options, progress, and what is printed."""

from __future__ import annotations

import itertools
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from aleator.apps.cli.holdem_report import format_seconds
from aleator.apps.cli.output import note, out, print_json, print_table, progress_bar
from aleator.apps.cli.stopping import cut_short, end, interruptible
from aleator.apps.cli.workers import chosen_workers
from aleator.arena.whole_hands.match import HandMatch, HandScore, MatchState, play_hand_match
from aleator.arena.whole_hands.match_file import MatchFile, read_match
from aleator.arena.whole_hands.play import RAW, REST
from aleator.errors import AgentError

_SOON = 50_000  # hands of quick agents that are played before other processes would have started


def run_match(
    match: HandMatch,
    *,
    output: Path | None,
    phh: Path | None,
    processes: int | None,
    ray: str | None,
    minutes: float | None,
    json: bool,
) -> None:
    """Plays a match and prints its result; Ctrl-C prints what there is, and the same command goes on from the file."""
    if phh is not None and output is None:
        raise AgentError("--phh needs --out: hands are converted from the match file")
    if phh is not None and phh.suffix not in (".phh", ".phhs"):
        raise AgentError(f"--phh {phh}: the name must end in .phhs or .phh")
    if output is not None and match.aivat == REST:
        raise AgentError("--aivat rest plays no hand to its end, so --out has nothing to write")
    state, stopped = play_with_progress(match, output, processes, ray, minutes, quiet=json)
    if phh is not None and output is not None:
        _write_phh(output, phh)
    if json:
        print_json(to_json(state))
    else:
        _print(state, output)
    if stopped:
        _note_stop(state, output)
    end(stopped=stopped)


def run_round_robin(
    matches: list[HandMatch], *, processes: int | None, ray: str | None, minutes: float | None, json: bool
) -> None:
    """Plays every pair of several agents, each for so many minutes at most, and prints a table."""
    states: dict[tuple[str, str], MatchState] = {}
    stopped = False
    for match in matches:
        if not stopped:
            state, stopped = play_with_progress(match, None, processes, ray, minutes, quiet=json)
            states[match.agents[0], match.agents[1]] = state
    if json:
        print_json({"game": matches[0].game, "matches": [to_json(state) for state in states.values()]})
    else:
        _print_table(matches[0].game, states)
    if stopped:
        note(f"stopped in match {len(states)} of {len(matches)}")
    end(stopped=stopped)


def pairs(agents: list[str]) -> list[tuple[str, str]]:
    """Returns who plays whom in a round-robin."""
    if len(set(agents)) < len(agents):
        raise AgentError(f"a round-robin needs different agents, not {', '.join(agents)}")
    return list(itertools.combinations(agents, 2))


def play_with_progress(
    match: HandMatch,
    output: Path | None,
    processes: int | None,
    ray: str | None = None,
    minutes: float | None = None,
    *,
    quiet: bool,
) -> tuple[MatchState, bool]:
    """Returns a match after it was played, and whether it was stopped before its end by the user."""
    if minutes is not None and not minutes >= 0:  # NaN, too
        raise AgentError(f"--minutes must be 0 or more, not {minutes:g}")
    agents = match.load_agents()
    is_soon = match.hands <= _SOON and all(agent.is_quick for agent in agents)
    alone = is_soon or any(agent.is_alone for agent in agents)
    workers = chosen_workers(processes, ray, usual=1 if alone else None)
    if match.num_hands > match.hands and not quiet:
        note(f"{match.num_hands:,} hands instead of {match.hands:,}: {match.cluster} in a row share a board")
    with ExitStack() as stack:
        file = None
        if output is not None:
            file = MatchFile(output, match.header(match.mode(agents)))
            stack.callback(file.close)
            if file.played and not quiet:
                note(f"{output}: {len(file.played):,} hands are there already")
        interrupted = stack.enter_context(interruptible())
        move = stack.enter_context(progress_bar("playing", quiet=quiet))

        def on_piece(state: MatchState) -> bool:
            move(state.played / match.num_hands, f"hand {state.played:,}, {_text(state.score())} mbb/h")
            return interrupted() or (minutes is not None and state.seconds >= 60.0 * minutes)

        state = play_hand_match(match, file=file, workers=workers, on_piece=on_piece, playing=cut_short)
        return state, interrupted()


def _note_stop(state: MatchState, output: Path | None) -> None:
    """Says on standard error that a match was stopped, and how to go on with it."""
    how = "the same command goes on from there" if output is not None else "--out FILE keeps hands to go on from"
    rest = "" if state.mode == REST else f"; {how}"
    note(f"stopped after {state.played:,} of {state.match.num_hands:,} hands{rest}")


def to_json(state: MatchState) -> dict[str, Any]:
    """Returns a result as JSON values: the score by AIVAT at the top, by chips under `raw`."""
    match = state.match
    document: dict[str, Any] = {"game": match.game, "agents": list(match.agents), "seed": match.seed}
    if match.response:
        document |= {"menu": match.response[0], "rounds": match.response[1]}
    if match.against is not None:
        document["against"] = match.against
    document |= state.score().to_dict() | {"unit": "mbb/hand", "aivat": state.mode}
    if state.mode != REST:
        document["raw"] = state.raw().to_dict()
    if len(match.agents) > 2:
        document["scores"] = [{"agent": name} | state.raw(index).to_dict() for index, name in enumerate(match.agents)]
    document["decisions"] = [
        {
            "agent": name,
            "decisions": times.decisions,
            "mean_seconds": times.seconds / times.decisions if times.decisions else None,
            "slowest_seconds": times.slowest if times.decisions else None,
        }
        for name, times in zip(match.agents, state.times, strict=True)
    ]
    return document | {"seconds": state.seconds}


def _print(state: MatchState, output: Path | None) -> None:
    match = state.match
    first, others = match.agents[0], ", ".join(match.agents[1:])
    others = others if len(match.agents) == 2 else f"{others}, all at one table"
    title = f"wins against {others}" if match.against is None else f"wins from {match.against} more than {others} does"
    out.print(f"{match.game}: what {first} {title}", style="bold", soft_wrap=True)
    rows = []
    if state.mode != RAW:
        rows.append((f"without luck (AIVAT, {state.mode})", *_cells(state.score())))
    if state.mode != REST:  # in which nobody wins chips
        rows += [(f"chips won by {name}", *_cells(state.raw(index))) for index, name in enumerate(match.agents)][
            : 1 if len(match.agents) == 2 else None
        ]
    print_table("", ("", "hands", "mbb/hand", "± 95 %"), rows)
    times = [
        (name, f"{row.decisions:,}", format_seconds(row.seconds / row.decisions), format_seconds(row.slowest))
        for name, row in zip(match.agents, state.times, strict=True)
        if row.decisions
    ]
    if times:
        print_table("", ("", "decisions", "mean", "slowest"), times)
        played = sum(row.decisions > 0 for row in state.times) and state.seconds
        if played:
            out.print(f"{format_seconds(state.seconds)} in all; mbb is a thousandth of a big blind", style="dim")
    if output is not None:
        out.print(f"hands: {output}", soft_wrap=True)


def _print_table(game: str, states: dict[tuple[str, str], MatchState]) -> None:
    """Prints who wins how much against whom, and the mean over all opponents."""
    names = list(dict.fromkeys(name for pair in states for name in pair))
    rows = []
    for name in names:
        scores: list[HandScore | None] = []
        for other in names:
            if (name, other) in states:
                scores.append(states[name, other].score())
            elif (other, name) in states:
                result = states[other, name].score()
                scores.append(HandScore(result.hands, -result.mbb_per_hand, result.ci95))
            else:
                scores.append(None)
        known = [score.mbb_per_hand for score in scores if score is not None]
        mean = f"{sum(known) / len(known):+,.0f}" if known else "-"
        rows.append((name, *("-" if score is None else _text(score) for score in scores), mean))
    print_table(f"{game}: mbb/hand of the row against the column, ± 95 %", ("", *names, "mean"), rows)


def _cells(score: HandScore) -> tuple[str, str, str]:
    if not score.hands:
        return "0", "-", "-"
    known = score.ci95 == score.ci95
    return f"{score.hands:,}", f"{score.mbb_per_hand:+,.1f}", f"{score.ci95:,.1f}" if known else "-"


def _text(score: HandScore) -> str:
    if not score.hands:
        return "-"
    mean = round(score.mbb_per_hand) + 0.0  # not −0
    return f"{mean:+,.0f} ± {score.ci95:,.0f}" if score.ci95 == score.ci95 else "-"


def _write_phh(output: Path, phh: Path) -> None:
    from aleator.arena.whole_hands.phh import write_phhs

    note(f"{phh}: {write_phhs(phh, read_match(output)):,} hands")
