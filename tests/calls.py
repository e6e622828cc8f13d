"""Functions that tests have called in other processes."""

from __future__ import annotations

import os
import time
from pathlib import Path

from model.config import ModelConfig
from model.divergence import DivergenceError
from model.snapshot import read


def square(number: int) -> int:
    return number * number


def once(number: int, folder: str) -> int:
    """Leave a file for each time it is called."""
    calls = Path(folder)
    (calls / f"{number}.{len(list(calls.glob(f'{number}.*')))}").touch()
    return square(number)


def fail_at(number: int, bad: int, folder: str) -> int:
    if number == bad:
        raise RuntimeError("the processor caught fire")
    return once(number, folder)


def diverge(step: int) -> None:
    raise DivergenceError(step, 2e6)


def want_an_impossible_model(n_heads: int) -> None:
    ModelConfig(n_heads=n_heads)


def read_nothing(folder: str) -> None:
    read(Path(folder) / "manifest.json")


def endless(_number: int, folder: str) -> None:
    """Say in which process, and take longer than any test waits."""
    (Path(folder) / f"{os.getpid()}.busy").touch()
    time.sleep(600)


def slow(number: int, folder: str) -> list[int]:
    """Take a while; say in which process."""
    (Path(folder) / f"{os.getpid()}").touch()
    time.sleep(0.3)
    return [number, square(number)]
