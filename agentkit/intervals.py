"""What a count of passes does and does not prove: intervals, paired tests, and how many tasks it takes. Standard library only.

Shares lie between 0 and 1. An interval is a 95 % interval. "Real" means p < 0.05 in the exact two-sided sign test.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb, exp, lgamma, log, sqrt

Z = 1.959963984540054       # 95 % of a normal distribution lie within this many standard deviations
ALPHA = 0.05


def wilson(passed: float, n: float, z: float = Z) -> tuple[float, float]:
    """The interval for a share, `passed` of `n`. It never leaves 0 to 1, and 30 of 30 is not certainty. E. B. Wilson, JASA 22 (1927) 209.

    `z` is its width in standard deviations. Of nothing, nothing is known: (0, 1). Raises ValueError for a count that is none.
    """
    if not 0 <= passed <= max(n, 0) + 1e-9:     # shares of weighted tasks carry rounding
        raise ValueError(f"passed must be between 0 and the number of tasks: {passed} of {n}")
    if n <= 0:
        return 0.0, 1.0
    p, q = min(1.0, passed / n), z * z / n
    middle, half = (p + q / 2) / (1 + q), z * sqrt(p * (1 - p) / n + q / n / 4) / (1 + q)
    return 0.0 if passed <= 0 else max(0.0, middle - half), 1.0 if passed >= n else min(1.0, middle + half)


def sign_test(better: int, worse: int) -> float:
    """How often chance alone is at least this lopsided: the p-value, two-sided and exact. For paired passes this is McNemar's test.

    Tasks on which both versions do the same say nothing about which one is better, so they are not asked for.
    """
    m = better + worse
    return min(1.0, 2 * sum(_ways(m, min(better, worse))) / 2 ** m)


def _ways(m: int, most: int):
    """comb(m, 0), comb(m, 1) ... comb(m, most), each made of the one before."""
    ways = 1
    for k in range(most + 1):
        yield ways
        ways = ways * (m - k) // (k + 1)


def mean_difference(differences: Sequence[float]) -> tuple[float, float, float]:
    """(mean, low, high) of the differences task by task, each between -1 and 1.

    The interval is Bonett and Price's (2012): as if there were two more tasks, one won and one lost, which keeps it honest
    where few tasks differ. It is widened to hold 0 where the exact sign test does not rule 0 out, so the two never disagree.
    """
    if not differences:
        return 0.0, -1.0, 1.0
    n, more = len(differences), [*differences, 1.0, -1.0]
    middle = sum(more) / len(more)
    half = Z * sqrt(max(0.0, sum(d * d for d in more) / len(more) - middle ** 2) / len(more))
    low, high = max(-1.0, middle - half), min(1.0, middle + half)
    if sign_test(sum(d > 0 for d in differences), sum(d < 0 for d in differences)) >= ALPHA:
        low, high = min(low, 0.0), max(high, 0.0)
    return sum(differences) / n, low, high


def mean(values: Sequence[float]) -> tuple[float, float, float]:
    """(mean, low, high) by the normal approximation: good for some twenty values and more."""
    n = len(values)
    middle = sum(values) / n
    half = Z * sqrt(sum((v - middle) ** 2 for v in values) / (n - 1) / n) if n > 1 else 0.0
    return middle, middle - half, middle + half


def median(values: Sequence[float]) -> tuple[float, float, float]:
    """(median, low, high): the interval runs between two of the sorted values and takes no shape for granted.

    With fewer than 6 values no two of them are 95 % apart: then it is the whole range, and covers less.
    """
    found = sorted(values)
    n = len(found)
    if not n:
        raise ValueError("no values, no median")
    k, below = 0, 1 / 2 ** n        # the chance that at most k values lie below the true median
    while k < (n - 1) // 2 and below <= ALPHA / 2:
        k += 1
        below += comb(n, k) / 2 ** n
    k = max(0, k - 1)
    return (found[(n - 1) // 2] + found[n // 2]) / 2, found[k], found[n - 1 - k]


def power(tasks: int, gain: float, loss: float) -> float:
    """How often a comparison on this many tasks shows that B is better, when B truly wins the share `gain` and loses the share `loss`.

    Exact: the number of tasks that differ is binomial, and so is B's part of them.
    """
    if not (0 <= gain <= 1 and 0 <= loss <= 1 and gain + loss <= 1 + 1e-12):
        raise ValueError(f"gain and loss are shares of all tasks, together at most 1, not {gain!r} and {loss!r}")
    differ = min(1.0, gain + loss)
    if not differ:
        return 0.0
    return sum(weight * _shown(m, gain / differ) for m in range(tasks + 1) if (weight := binomial(m, tasks, differ)) > 1e-13)


def needed(gain: float, loss: float, chance: float = 0.8, most: int = 3_000) -> int | None:
    """How many tasks find that B is better in `chance` of all tries; None where `most` are not enough.

    A task or two off, because power moves in small teeth.
    """
    low, high = 0, 6
    while power(high, gain, loss) < chance:
        if gain <= loss or high >= most:
            return None
        low, high = high, min(most, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle, gain, loss) >= chance else (middle, high)
    return high


def binomial(k: int, n: int, p: float) -> float:
    """The chance of exactly k in n tries that succeed with chance p."""
    if p <= 0 or p >= 1:
        return float(k == (n if p >= 1 else 0))
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log(1 - p))


@lru_cache(maxsize=None)
def fewest_wins(m: int) -> int:
    """Of m tasks that differ, how many B must win for the sign test to call it real; m + 1 where even all are too few."""
    tail = 0
    for k, ways in enumerate(_ways(m, m)):
        tail += ways
        if 40 * tail >= 2 ** m:         # 2 * tail / 2 ** m >= 0.05, in whole numbers
            return m - k + 1
    return m + 1


@lru_cache(maxsize=100_000)
def _shown(m: int, share: float) -> float:
    return sum(binomial(k, m, share) for k in range(fewest_wins(m), m + 1))
