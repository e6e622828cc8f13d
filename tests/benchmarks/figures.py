"""What a benchmark measures, and the command line that all benchmarks share."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure and its limit: the most it may be, or with `at_least` the least.

    `note` says how sure it is, or what it is made of.
    """

    name: str
    value: float
    limit: float
    unit: str
    at_least: bool = False
    note: str = ""

    @property
    def is_within(self) -> bool:
        """Whether the limit is kept."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        bad = "TOO LITTLE" if self.at_least else "TOO MUCH"
        limit = f"{'at least' if self.at_least else 'limit'} {self.limit:g} {self.unit}"
        line = f"{self.name:<56}{self.value:9.2f}  {limit:<17}{'ok' if self.is_within else bad:<10}"
        return f"{line} {self.note}".rstrip()


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest of the values that `percent` of them do not exceed."""
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1]


def spread(values: Sequence[float]) -> str:
    """How far measurements of one thing lie apart."""
    return f"median of {len(values)}, {min(values):.2f} to {max(values):.2f}"


Benchmark = Callable[[int], Iterator[Figure]]


def main(summary: str, benchmarks: Mapping[str, Benchmark], rounds: int) -> int:
    """Run the chosen benchmarks and print a line for each figure; 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=summary)
    parser.add_argument("--rounds", type=int, default=rounds, help="rounds of each (%(default)s)")
    parser.add_argument("--only", nargs="+", choices=benchmarks, default=list(benchmarks))
    options = parser.parse_args()
    is_within = True
    for name in options.only:
        for figure in benchmarks[name](options.rounds):
            print(figure, flush=True)
            is_within &= figure.is_within
    return 0 if is_within else 1
