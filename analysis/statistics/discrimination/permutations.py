"""Compiled loops: sums by system when each query's scores are permuted over its systems.

All sums are of integers, so no order of work and no number of threads changes them.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, IntArray
from analysis.core.computation import compiled

#: Systems up to which all orders of a query's scores are tabled: 6! = 720.
TABLED = 6

#: Queries whose draws are in memory at a time.
ROWS_AT_A_TIME = 32

#: Resamples computed at a time, to bound memory.
RESAMPLES_AT_A_TIME = 512


def permuted_sums(
    matrices: list[tuple[IntArray, BoolArray]], resamples: int, seed: int
) -> list[IntArray]:
    """Sums (resamples, k) of each system's scores under permutations within queries.

    Parameters
    ----------
    matrices
        Scores as integers from 0 on (n, k), and which of them there are (n, k); missing scores
        stay missing, the others are permuted among the systems that have one. All have one shape;
        the same orders are drawn for each, so their results are joint.
    resamples, seed
        Number of permutations of the whole table, and the seed they follow from.
    """
    k = matrices[0][0].shape[1]
    # Compiled loops release the interpreter, and integers add up alike in whatever order.
    with ThreadPoolExecutor(max(1, min(len(matrices), os.cpu_count() or 1))) as pool:
        if k > TABLED:
            return list(pool.map(lambda of: _shuffled(of[0], of[1], resamples, seed), matrices))
        return _tabled_sums(matrices, resamples, seed, pool)


def _tabled_sums(
    matrices: list[tuple[IntArray, BoolArray]], resamples: int, seed: int, pool: ThreadPoolExecutor
) -> list[IntArray]:
    n, k = matrices[0][0].shape
    key = _key(seed)
    orders, starts = _orders(k)
    plans = [_plan(cells, k) for cells, _ in matrices]
    sums = [np.zeros((resamples, k), dtype=np.int64) for _ in matrices]
    pending = [np.zeros((words, resamples), dtype=np.int64) for words, _, _ in plans]
    waiting = [0] * len(plans)
    drawn = np.empty((ROWS_AT_A_TIME, resamples), dtype=np.uint32)

    def add(number: int, start: int) -> None:
        cells, present = matrices[number]
        rows = slice(start, start + ROWS_AT_A_TIME)
        _, per_word, at_most = plans[number]
        waiting[number] = _tabled(
            cells[rows], present[rows], drawn, orders, starts, per_word, at_most,
            waiting[number], pending[number], sums[number],
        )  # fmt: skip

    for start in range(0, n, ROWS_AT_A_TIME):
        _draw(key, start, drawn)
        list(pool.map(add, range(len(matrices)), [start] * len(matrices)))
    for number, (cells, _) in enumerate(matrices):
        _flush(pending[number], plans[number][1], sums[number])
        # The last system has what the others do not.
        sums[number][:, k - 1] = cells.sum() - sums[number][:, : k - 1].sum(axis=1)
    return sums


def _key(seed: int) -> np.uint64:
    return np.uint64(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


def _orders(k: int) -> tuple[npt.NDArray[np.int8], IntArray]:
    """All orders of 0 to k systems, a column each, and where those of each number begin."""
    tables = [np.array(list(permutations(range(m))), dtype=np.int8) for m in range(k + 1)]
    starts = np.cumsum([0, *(len(table) for table in tables)])
    whole = np.zeros((k, starts[-1]), dtype=np.int8)
    for m, table in enumerate(tables[1:], start=1):
        whole[:m, starts[m] : starts[m] + len(table)] = table.T
    return whole, starts.astype(np.int64)


def _plan(cells: IntArray, k: int) -> tuple[int, int, int]:
    """Words a row is packed in, sums a word, and rows whose sums fit before they are emptied."""
    largest = int(cells.max(initial=1)) or 1
    for words in range(1, k):
        per_word = -(-(k - 1) // words)
        rows = (2 ** (63 // per_word) - 1) // largest
        if rows >= 16 or words == k - 1:
            return words, per_word, rows
    return 1, 1, 2**62 // largest


@compiled
def _mixed(state: Any) -> Any:  # pragma: no cover
    """The finalizer of SplitMix64 (Steele, Lea and Flood 2014)."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@compiled
def _draw(key: Any, first: int, drawn: Any) -> None:  # pragma: no cover
    """Uniform 32-bit numbers; every query has a separate random stream, two numbers a step."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    resamples = drawn.shape[1]
    for row in range(drawn.shape[0]):
        state = _mixed(key + golden * np.uint64(first + row + 1))
        line = drawn[row]
        for pair in range(resamples // 2):
            mixed = _mixed(state + golden * np.uint64(pair + 1))
            line[2 * pair] = np.uint32(mixed >> np.uint64(32))
            line[2 * pair + 1] = np.uint32(mixed & np.uint64(0xFFFFFFFF))
        if resamples % 2:
            mixed = _mixed(state + golden * np.uint64(resamples // 2 + 1))
            line[resamples - 1] = np.uint32(mixed >> np.uint64(32))


@compiled
def _flush(pending: Any, per_word: int, sums: Any) -> None:  # pragma: no cover
    bits = 63 // per_word
    mask = (1 << bits) - 1
    last = sums.shape[1] - 1
    for word in range(pending.shape[0]):
        for b in range(pending.shape[1]):
            packed = pending[word, b]
            for place in range(per_word):
                system = word * per_word + place
                if system < last:
                    sums[b, system] += (packed >> (bits * place)) & mask
            pending[word, b] = 0


@compiled
def _tabled(  # noqa: PLR0912  # pragma: no cover
    cells: Any,
    present: Any,
    drawn: Any,
    orders: Any,
    starts: Any,
    per_word: int,
    at_most: int,
    waiting: int,
    pending: Any,
    sums: Any,
) -> int:
    """Add rows to the pending sums; a table of a row's orders has the packed sums of each."""
    rows, k = cells.shape
    words, resamples = pending.shape
    bits = 63 // per_word
    table = np.zeros((words, starts[k + 1] - starts[k]), dtype=np.int64)
    system = np.zeros(k, dtype=np.int64)
    value = np.zeros(k, dtype=np.int64)
    for row in range(rows):
        m = 0
        equal = True
        for s in range(k):
            if present[row, s]:
                system[m] = s
                value[m] = cells[row, s]
                equal = equal and value[m] == value[0]
                m += 1
        if m == 0:
            continue
        if equal:
            for i in range(m):
                if system[i] < k - 1 and value[i]:
                    for b in range(resamples):
                        sums[b, system[i]] += value[i]
            continue
        if waiting == at_most:
            _flush(pending, per_word, sums)
            waiting = 0
        waiting += 1
        number = starts[m + 1] - starts[m]
        table[:, :number] = 0
        for i in range(m):
            s = system[i]
            if s < k - 1:
                shift = bits * (s % per_word)
                column = orders[i]
                entry = table[s // per_word]
                for order in range(number):
                    entry[order] += value[column[starts[m] + order]] << shift
        line = drawn[row]
        for word in range(words):
            entry = table[word]
            into = pending[word]
            for b in range(resamples):
                # The upper half of the product falls on 0 to 719 with a bias below 720 / 2^32.
                drawn_order = (np.uint64(line[b]) * np.uint64(number)) >> np.uint64(32)
                into[b] += entry[drawn_order]
    return waiting


def _shuffled(cells: IntArray, present: BoolArray, resamples: int, seed: int) -> IntArray:
    sums = np.zeros((resamples, cells.shape[1]), dtype=np.int64)
    key = _key(seed)
    for start in range(0, resamples, RESAMPLES_AT_A_TIME):
        _shuffle(cells, present, key, start, sums[start : start + RESAMPLES_AT_A_TIME])
    return sums


@compiled
def _shuffle(  # pragma: no cover
    cells: Any, present: Any, key: Any, start: int, sums: Any
) -> None:
    """Fisher-Yates within each query; every query and resample has a separate random stream."""
    n, k = cells.shape
    golden = np.uint64(0x9E3779B97F4A7C15)
    system = np.zeros(k, dtype=np.int64)
    value = np.zeros(k, dtype=np.int64)
    moved = np.zeros(k, dtype=np.int64)
    for row in range(n):
        m = 0
        for s in range(k):
            if present[row, s]:
                system[m] = s
                value[m] = cells[row, s]
                m += 1
        row_state = _mixed(key + golden * np.uint64(row + 1))
        for b in range(sums.shape[0]):
            state = _mixed(row_state ^ _mixed(golden * np.uint64(start + b + 1)))
            moved[:m] = value[:m]
            for i in range(m - 1, 0, -1):
                state += golden
                # The upper half of the product falls on 0 to i with a bias below i / 2^32.
                high = (_mixed(state) >> np.uint64(32)) * np.uint64(i + 1)
                j = np.int64(high >> np.uint64(32))
                picked = moved[j]
                moved[j] = moved[i]
                sums[b, system[i]] += picked
            if m:
                sums[b, system[0]] += moved[0]


@compiled
def widest(sums: Any, counts: Any) -> Any:  # pragma: no cover
    """For each resample the systems (B, 2) with the largest and the smallest mean, exactly.

    Means of unequal counts are compared cross-multiplied; products have to stay below 2^63.
    """
    resamples, k = sums.shape
    extremes = np.zeros((resamples, 2), dtype=np.int64)
    for b in range(resamples):
        high = 0
        low = 0
        for s in range(1, k):
            if sums[b, s] * counts[high] > sums[b, high] * counts[s]:
                high = s
            if sums[b, s] * counts[low] < sums[b, low] * counts[s]:
                low = s
        extremes[b, 0] = high
        extremes[b, 1] = low
    return extremes
