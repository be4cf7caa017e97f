"""The average policy of a blueprint, decision by decision, with the betting that it was trained on."""

from __future__ import annotations

from pathlib import Path

from aleator.abstraction.blueprint.betting import Betting, build_betting
from aleator.abstraction.blueprint.file import Blueprint
from aleator.abstraction.blueprint.training import BlueprintConfig
from aleator.abstraction.buckets import AbstractionError, Buckets, open_buckets
from aleator.games.base import FloatArray
from aleator.games.holdem.variants import HoldemVariant, load_hand_game
from aleator.storage import ArrayFile


class BlueprintPolicy:
    """What a blueprint does at each decision of its betting, for each number that hands have there.

    Args:
        blueprint: that was opened.
        buckets: that it was trained with.

    Attributes:
        blueprint, buckets: as given.
        betting: its tree.
        game: that it plays.

    Raises:
        AbstractionError: the buckets are others, or the file is damaged.
    """

    def __init__(self, blueprint: Blueprint, buckets: Buckets) -> None:
        try:
            config = BlueprintConfig.parse(blueprint.config_text)
        except ValueError as error:
            raise AbstractionError(f"{blueprint.path} is damaged: {error}") from error
        if blueprint.fingerprint != buckets.fingerprint:
            raise AbstractionError(f"{blueprint.path} was trained with other buckets than those given")
        self.blueprint, self.buckets = blueprint, buckets
        self.betting: Betting = build_betting(config.game, config.menu, buckets.config)
        arrays = self.betting.arrays
        if not blueprint.fits(self.betting.size, arrays.first, arrays.row, arrays.street, buckets.config):
            raise AbstractionError(f"{blueprint.path} is damaged: its table does not fit its bet menu")
        self.game: HoldemVariant = load_hand_game(config.game)

    def at(self, number: int) -> FloatArray:
        """Returns the policy of a decision by its number in the betting tree, ``[numbers, A]``; 0 where never met."""
        arrays, decision = self.betting.arrays, int(self.betting.decision_of[number])
        actions = int(arrays.first[decision + 1] - arrays.first[decision])
        count = self.buckets.config.count(int(arrays.street[decision]))
        return self.blueprint.average_policy(int(arrays.row[decision]), count, actions)


def open_blueprint(path: Path | str) -> Blueprint:
    """Returns the blueprint of two players in a file, as it was trained or packed.

    Raises:
        StorageError: there is none, or it is damaged.
    """
    from aleator.abstraction.packed.policies import PackedBlueprint

    is_packed = ArrayFile(path).metadata.get("format") == PackedBlueprint.format
    return PackedBlueprint(path) if is_packed else Blueprint(path)


def is_blueprint(path: Path | str) -> bool:
    """Returns whether a file is a blueprint of two players.

    Raises:
        StorageError: it is not a file of arrays.
    """
    from aleator.abstraction.packed.policies import PackedBlueprint

    return ArrayFile(path).metadata.get("format") in (Blueprint.format, PackedBlueprint.format)


def open_policy(file: Path | str, abstraction: Path | str | None = None) -> BlueprintPolicy:
    """Returns the policy of a blueprint in a file.

    Args:
        file: as `aleator train blueprint` or `aleator abstraction pack` writes it.
        abstraction: its buckets; None: where they lay when it was trained.

    Raises:
        StorageError: a file cannot be read, or is something else.
        AbstractionError: the buckets are not those of the blueprint.
    """
    blueprint = open_blueprint(file)
    place = blueprint.path.parent / blueprint.buckets_place if abstraction is None else Path(abstraction)
    return BlueprintPolicy(blueprint, open_buckets(place))
