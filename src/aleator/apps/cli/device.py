"""Where networks are computed: what `--device` and `--threads` ask for."""

from __future__ import annotations

from importlib.util import find_spec

from aleator.errors import MissingExtraError, SolveError, check_known

_DEVICES = ("auto", "cpu", "cuda")


def check_device(device: str, threads: int | None) -> str:
    """Returns the device to train on, "cpu" or "cuda"; on a CPU, sets how many threads work.

    Raises:
        MissingExtraError: torch is not installed.
        SolveError: no such device.
    """
    check_known(device, _DEVICES, "device")
    if find_spec("torch") is None:
        raise MissingExtraError("torch", "neural")
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise SolveError("this machine has no CUDA device that torch can use; choose --device cpu")
    if threads is not None:
        torch.set_num_threads(threads)
    return "cuda" if device != "cpu" and torch.cuda.is_available() else "cpu"
