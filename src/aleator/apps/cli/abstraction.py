"""`aleator abstraction`: make buckets of hands, look into a file of them, pack buckets and blueprints."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from aleator.apps.cli.output import note, number, out, print_json, print_table
from aleator.apps.cli.stopping import end
from aleator.apps.cli.training import duration, reporting
from aleator.parsing import MAX_SEED, MAX_THREADS, parse_whole

app = typer.Typer(no_args_is_help=True)

_FILE = Annotated[Path, typer.Argument(help="The file of buckets.", show_default=False)]
_JSON = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.callback()
def _overview() -> None:
    """Make, show and pack buckets: hands that a smaller game does not tell apart."""


@app.command()
def build(
    file: _FILE,
    game: Annotated[str, typer.Option(help="A game of whole hands; buckets compare hands at its end.")] = "hunl",
    buckets: Annotated[str, typer.Option(help="How many on flop, turn and river; one number for all.")] = "200",
    features: Annotated[str | None, typer.Option(help="How hands are compared on each street: equity, ochs, "
                                                 "histogram or potential; default: potential, last ochs.")] = None,
    recall: Annotated[str, typer.Option(help="imperfect, or perfect: earlier buckets are remembered.")] = "imperfect",
    public_flops: Annotated[int, typer.Option(help="Kinds of flops to tell apart; 1 for none.")] = 1,
    boards: Annotated[int, typer.Option(help="Random boards to fit the clusters of a street on.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of all randomness.")] = 0,
    like: Annotated[Path | None, typer.Option(help="Make the very buckets of a packed file, whose settings are "
                                              "taken.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, max=MAX_THREADS, help="By default all cores.")] = None,
    json: _JSON = False,
) -> None:  # fmt: skip
    """Make buckets. Ctrl-C keeps the streets that are done; the same command continues with the next. It says
    beforehand how long it will take; the first example takes seconds.

    Examples:  aleator abstraction build few.bin --game flop-holdem --buckets 10  |  aleator abstraction build
    buckets.bin  |  aleator abstraction build small.bin --buckets 50/50/100 --features histogram/histogram/equity  |
    aleator abstraction build flop.bin --game flop-holdem --buckets 2000  |
    aleator abstraction build buckets.bin --like packed.buckets
    """
    from aleator.abstraction.buckets import AbstractionError, BucketConfig, open_buckets
    from aleator.abstraction.build import build_buckets, core_seconds, size_of
    from aleator.games.holdem.variants import load_hand_game

    streets = load_hand_game(game).rules.num_streets - 1
    if recall not in ("imperfect", "perfect"):
        raise AbstractionError(f"unknown recall {recall!r}; allowed: imperfect, perfect")
    counts = [parse_whole(text, "buckets", least=1, error=AbstractionError) for text in buckets.split("/")]
    words = ("potential",) * (streets - 1) + ("ochs",) if features is None else tuple(features.split("/"))
    config = BucketConfig(
        game=game,
        buckets=tuple(counts * streets if len(counts) == 1 else counts),
        features=words * streets if len(words) == 1 and features else words,
        perfect_recall=recall == "perfect",
        public_flops=public_flops,
        boards=boards,
        seed=seed,
    )
    packed = None if like is None else open_buckets(like)
    config = config if packed is None else packed.config
    if not json:
        note(
            f"{file}: {size_of(config) / 1e6:,.0f} MB, and as much memory; about {duration(core_seconds(config))} of "
            "one core, less with more of them"
        )
    with reporting("making buckets", quiet=json) as report:
        try:
            made = build_buckets(config, file, threads=threads or os.cpu_count() or 1, report=report, like=packed)
        except KeyboardInterrupt:
            note(f"stopped; the same command goes on after the streets that are done, kept beside {file}")
            end(stopped=True)
            return
    if json:
        print_json({"file": str(file), **made.report})
    else:
        out.print(f"{file}: buckets made in {duration(made.report['seconds'])}", soft_wrap=True)


@app.command()
def show(
    file: _FILE,
    board: Annotated[str, typer.Option(help="Show the buckets of hands on this board, such as 'Ah 7c 2d'.")] = "",
    hand: Annotated[str, typer.Option(help="Show hands that share the bucket of this one, such as 'As Ks'.")] = "",
    json: _JSON = False,
) -> None:
    """Show what a file of buckets was made from, or which hands on a board share a bucket.

    Examples:  aleator abstraction show buckets.bin  |  aleator abstraction show buckets.bin --board 'Ah 7c 2d' --hand
    'As Ks'
    """
    from aleator.abstraction.buckets import AbstractionError, open_buckets
    from aleator.games.holdem.betting import STREET_NAMES
    from aleator.games.holdem.cards import blocked_hands, format_cards, format_hand, parse_cards, parse_hand
    from aleator.games.holdem.hand_state import BOARD_CARDS

    buckets = open_buckets(file)
    config = buckets.config
    cards = parse_cards(board)
    allowed = BOARD_CARDS[: config.last_street + 1]
    if len(cards) not in allowed:
        sizes = ", ".join(map(str, allowed))
        raise AbstractionError(f"--board has {len(cards)} cards; boards of {config.game} have {sizes}")
    if hand:
        numbers, alive, own = buckets.numbers(cards), ~blocked_hands(cards), parse_hand(hand)
        if not alive[own]:
            raise AbstractionError(f"{hand} shares a card with the board {format_cards(cards)}")
        same = [format_hand(int(other)) for other in (alive & (numbers == numbers[own])).nonzero()[0]]
        if json:
            print_json(
                {"hand": format_hand(own), "board": format_cards(cards), "bucket": int(numbers[own]), "same": same}
            )
        else:
            where = f"on {format_cards(cards)}" if cards else "before the flop"
            out.print(f"bucket {numbers[own]}, with {len(same)} hands {where}: {' '.join(same)}", soft_wrap=True)
        return
    if json:
        print_json({"file": str(file), "config": config.to_json(), **buckets.report})
        return
    rows = [("preflop", "169", "classes", "169", "-", "-")]
    for street, equity in enumerate(buckets.equities, start=1):
        row = (STREET_NAMES[street], f"{config.buckets[street - 1]:,}", config.features[street - 1])
        rows.append((*row, f"{config.count(street):,}", number(float(equity[0]), 3), number(float(equity[-1]), 3)))
    recall = "perfect" if config.perfect_recall else "imperfect"
    title = f"{config.game}, {recall} recall, {config.public_flops} public flops, seed {config.seed}"
    print_table(title, ("street", "buckets", "feature", "numbers", "lowest equity", "highest"), rows)
    made = duration(buckets.report["seconds"])
    out.print(f"made in {made}; fingerprint {buckets.fingerprint}", style="dim", soft_wrap=True)


@app.command()
def pack(
    file: Annotated[Path, typer.Argument(help="Buckets or a blueprint.", show_default=False)],
    output: Annotated[Path, typer.Option("--out", help="The small file.", show_default=False)],
    bits: Annotated[int | None, typer.Option(help="Of a probability of a blueprint, 2 to 6; 5 unless said.")] = None,
    buckets: Annotated[Path | None, typer.Option(help="Packed buckets by which a blueprint shall be played; unless "
                                                 "said, those that it was trained with.")] = None,
    json: _JSON = False,
) -> None:  # fmt: skip
    """Pack buckets or a blueprint into a small file to play by. Packed buckets are made board by board when they are
    asked for; a packed blueprint has its average policy only.

    Examples:  aleator abstraction pack buckets.bin --out small.buckets  |  aleator abstraction pack hunl.blueprint
    --out small.blueprint --buckets small.buckets
    """
    from aleator.abstraction.buckets import FORMAT, AbstractionError, open_buckets
    from aleator.abstraction.packed.buckets import pack_buckets
    from aleator.abstraction.packed.packing import BITS, pack_blueprint
    from aleator.storage import ArrayFile, check_writable

    check_writable(output)
    if output.exists() and file.exists() and output.samefile(file):
        raise AbstractionError(f"{file} would be packed into itself: give --out another name")
    before, changes = ArrayFile(file), dict[str, Any]()
    if before.metadata.get("format") == FORMAT:
        if bits is not None or buckets is not None:
            raise AbstractionError(f"{file} has buckets: --bits and --buckets are for blueprints")
        pack_buckets(open_buckets(file), output)
        changes["bytes"] = output.stat().st_size
        text = "the same buckets"
    else:
        packed = pack_blueprint(file, output, bits=BITS if bits is None else bits, buckets=buckets)
        changes = packed._asdict()
        text = f"probabilities change by {packed.largest:.3f} at most"
        if packed.mean is not None:
            text += f", policies by {packed.mean:.4f} in the mean over decisions of {packed.deals:,} deals"
    if json:
        print_json({"file": str(output), **changes})
    else:
        sizes = f"{changes['bytes'] / 1e6:,.2f} MB in place of {file.stat().st_size / 1e6:,.0f}"
        out.print(f"{output}: {sizes}; {text}", soft_wrap=True)
