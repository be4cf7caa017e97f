"""The methods that sample histories, by name: their settings, presets and runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple

import torch

from aleator.errors import check_known
from aleator.games.base import Game
from aleator.learning import settings
from aleator.learning.sampled import deep_cfr, deep_cfr_config, double_neural, nfsp
from aleator.learning.sampled.trainer import SampledConfig, SampledTrainer


class Method(NamedTuple):
    """A method.

    Attributes:
        kind: its name.
        title: the same in words.
        config: the class of its settings.
        presets: named settings; the first is the default.
        make: (settings, game, device) to a new run.
    """

    kind: str
    title: str
    config: type[Any]
    presets: dict[str, dict[str, Any]]
    make: Callable[..., SampledTrainer]

    def settings(self, values: Any) -> SampledConfig:
        """Returns the settings that `to_dict` gave, in this version or an earlier one."""
        made: SampledConfig = settings.from_dict(self.config, self.config.upgraded(values))
        return made

    def preset(self, name: str | None, **changes: Any) -> SampledConfig:
        """Returns a named setting with some fields changed; None for the default one."""
        name = next(iter(self.presets)) if name is None else name
        made: SampledConfig = settings.from_preset(self.config, self.presets, name, **changes)
        return made

    def trainer(
        self, config: SampledConfig, game: Game[Any] | None = None, *, device: torch.device | str = "cpu"
    ) -> SampledTrainer:
        """Returns a new run."""
        return self.make(config, game, device=device)


METHODS = {
    made.kind: Method(made.kind, made.title, config, presets, made)
    for made, config, presets in (
        (deep_cfr.DeepCFR, deep_cfr_config.DeepCfrConfig, deep_cfr_config.PRESETS),
        (nfsp.NFSP, nfsp.NfspConfig, nfsp.PRESETS),
        (double_neural.DoubleNeuralCFR, double_neural.DoubleNeuralConfig, double_neural.PRESETS),
    )
}


def find_method(kind: str) -> Method:
    """Returns the method of that name.

    Raises:
        SolveError: there is none; the message lists them.
    """
    check_known(kind, METHODS, "method")
    return METHODS[kind]


def to_dict(config: SampledConfig) -> dict[str, Any]:
    """Returns settings as JSON values."""
    values: Any = config
    return asdict(values)
