"""`aleator hands`: convert and show files of whole hands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aleator.apps.cli.output import note, out, print_json
from aleator.arena.whole_hands.files import read_hands, write_hands
from aleator.games.holdem.betting import STREET_NAMES, ActionKind
from aleator.games.holdem.cards import format_cards, format_hand
from aleator.games.holdem.hand_record import HandRecord
from aleator.storage import StorageError

app = typer.Typer(no_args_is_help=True, help="Convert and show files of whole hands.")


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(help=".jsonl, .phh, .phhs, an ACPC .log, or a site's .txt.")],
    target: Annotated[Path, typer.Argument(help=".jsonl, .phh or .phhs.")],
    game: Annotated[str | None, typer.Option(help="The game of an ACPC log: FILE.game, or hunl, hulh ...")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file of the target's name.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Convert hands. Whatever cannot be read is listed with its place; the rest is converted.

    Examples:  aleator hands convert match.jsonl match.phhs  |  aleator hands convert dealer.log hands.jsonl --game hunl
    """
    if game is not None and source.suffix != ".log":
        raise StorageError(f"--game is for ACPC logs, which do not say it themselves; {source} is none")
    if target.exists() and source.exists() and target.samefile(source):
        raise StorageError(f"{target} is what is converted: choose another name, so that nothing is lost")
    if target.is_file() and not force:
        raise StorageError(f"{target} is there already: choose another name, or replace it with --force")
    records, errors = read_hands(source, game)
    for error in errors:
        note(f"left out: {error}")
    if not records:
        raise StorageError(f"{source} has no hand that can be read; {target} was not written")
    count = write_hands(target, records)
    if json:
        print_json({"hands": count, "left_out": errors, "file": str(target)})
    else:
        out.print(
            f"{'1 hand' if count == 1 else f'{count:,} hands'} in {target}"
            + (f", {len(errors):,} left out" if errors else ""),
            soft_wrap=True,
        )


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="A file as for `aleator hands convert`.")],
    number: Annotated[int | None, typer.Option(help="Show the hand with this number only.")] = None,
    most: Annotated[
        int | None, typer.Option(min=1, help="Show at most this many; without it 10, and all with --json.")
    ] = None,
    game: Annotated[str | None, typer.Option(help="The game of an ACPC log.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show hands as people read them.

    Examples:  aleator hands show match.jsonl --number 17
    """
    records, errors = read_hands(file, game)
    for error in errors:
        note(f"left out: {error}")
    chosen = [record for record in records if number is None or record.number == number]
    if number is not None and not chosen:
        raise StorageError(f"{file} has no hand {number}; it has {_known_numbers(records)}")
    if json:
        print_json([record.to_dict() for record in chosen[:most]])
        return
    most = most or 10
    for record in chosen[:most]:
        out.print(describe(record), soft_wrap=True)
        out.print()
    if len(chosen) > most:
        out.print(f"... and {len(chosen) - most:,} more; --most shows them", style="dim")
    if not chosen:
        out.print("no hands", style="dim")


def _known_numbers(records: list[HandRecord]) -> str:
    """Returns the numbers of hands as a message says them."""
    numbers = sorted(record.number for record in records)
    if len(numbers) <= 1:
        return f"hand {numbers[0]} only" if numbers else "none"
    return f"{len(numbers):,} hands, numbers {numbers[0]:,} to {numbers[-1]:,}"


def describe(record: HandRecord) -> str:
    """Returns a hand in words, a line per street."""
    setup = record.setup
    names = record.names or tuple(f"player {player + 1}" for player in range(setup.num_players))
    rules = setup.rules
    lines = [f"hand {record.number}: blinds {rules.small_blind}/{rules.big_blind}"]
    for player, name in enumerate(names):
        hand = record.hands[player]
        post = dict(rules.blinds()).get(player) if not setup.first_street else None
        blind = f", posts {post}" if post else ""
        lines.append(
            f"  {name}: {'hidden' if hand is None else format_hand(hand)}, {setup.stacks[player]:,} chips{blind}"
        )
    before, words, street = None, list[str](), setup.first_street
    title = f"  {STREET_NAMES[street]}{f' [{format_cards(setup.board)}]' if setup.board else ''}: "
    for state in record.states():
        if before is not None and len(state.actions) > len(before.actions):
            legal, action = before.legal_actions(), state.actions[-1]
            assert before.player is not None
            verb = str(action)
            if action.kind is ActionKind.CALL:
                verb = f"calls {legal.call_amount:,}" if legal.call_amount else "checks"
            elif action.kind is ActionKind.RAISE:
                verb = f"{'raises to' if max(before.betting.bets) else 'bets'} {action.amount:,}"
            else:
                verb = "folds"
            words.append(f"{names[before.player]} {verb}")
        elif before is not None:
            if words or street == setup.first_street:
                lines.append(title + ", ".join(words))
            words, street = [], {3: 1, 4: 2, 5: 3}[len(state.board)]
            title = f"  {STREET_NAMES[street]} [{format_cards(state.board)}]: "
        before = state
    lines.append((title + ", ".join(words)).rstrip(": "))
    if before is not None and before.is_over and all(record.hands[p] is not None for p in before.betting.live_players):
        won = ", ".join(f"{name} {chips:+,}" for name, chips in zip(names, record.payoffs(), strict=True))
        lines.append(f"  result: {won}")
    return "\n".join(lines)
