"""Compiled search of `middle.py`: sums of two and of three scaled vectors of F_5^16 that cancel.

A vector of F_5^16 is one 64-bit word, a nibble (0 to 4) for each coordinate: nibblewise sums are at
most 8 and are reduced without a carry. Its three lowest nibbles are its *slice*, 0 to 124.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from attncert.verify.kruskal.methods.quotient_kernels import dependent

_compiled = njit(cache=True, nogil=True)
_inlined = njit(cache=True, nogil=True, inline="always")
_THREES, _EIGHTS = np.uint64(0x3333333333333333), np.uint64(0x8888888888888888)
_FIVES, _ODD = np.uint64(0x5555555555555555), np.uint64(0x9E3779B97F4A7C15)
_THREE, _FIVE, _LOW = np.uint64(3), np.uint64(5), np.uint64(15)
_FOUR, _EIGHT, _ONE, _SIX, _MASK = (np.uint64(x) for x in (4, 8, 1, 6, 63))


@_inlined
def _reduced(t):  # type: ignore[no-untyped-def]
    """Nibbles of at most 8 modulo 5: those of 5 and more get their top bit from adding 3."""
    return t - _FIVE * (((t + _THREES) & _EIGHTS) >> _THREE)


@_inlined
def _slice(x):  # type: ignore[no-untyped-def]
    return np.int64((x & _LOW) + _FIVE * (((x >> _FOUR) & _LOW) + _FIVE * ((x >> _EIGHT) & _LOW)))


@_compiled
def _missing(target, have):  # type: ignore[no-untyped-def]
    """The slice that `have` needs to become `target`."""
    out, weight = 0, 1
    for _ in range(3):
        out += (target % 5 - have % 5 + 5) % 5 * weight
        target, have, weight = target // 5, have // 5, weight * 5
    return out


@_compiled
def slices(scaled):  # type: ignore[no-untyped-def]
    """Scaled vectors by slice and, in each, by index: (words, indices, (126,) offsets).

    scaled: (N, 4) words, each vector times 1, 2, 3, 4.
    """
    N = len(scaled)
    offsets = np.zeros(126, np.int64)
    for i in range(N):
        for c in range(4):
            offsets[_slice(scaled[i, c]) + 1] += 1
    for s in range(125):
        offsets[s + 1] += offsets[s]
    words, indices, place = np.empty(4 * N, np.uint64), np.empty(4 * N, np.int64), offsets.copy()
    for i in range(N):
        for c in range(4):
            s = _slice(scaled[i, c])
            words[place[s]], indices[place[s]] = scaled[i, c], i
            place[s] += 1
    return words, indices, offsets


@_compiled
def pairs_of(target, scaled, words, indices, offsets):  # type: ignore[no-untyped-def]
    """All -(x + y), x and y scaled vectors d < e, in slice `target`; hashed.

    Returns (keys, d, e, next, heads, filter, shift): chains of equal hash, and a bit for each hash.
    """
    N, opposite = len(scaled), _missing(0, target)
    count = 0
    for fill in range(2):
        if fill == 1:
            bits = 10
            while (1 << bits) < 32 * count and bits < 26:
                bits += 1
            shift = np.uint64(64 - bits)
            keys, nexts = np.empty(count, np.uint64), np.empty(count, np.int32)
            first, second = np.empty(count, np.int32), np.empty(count, np.int32)
            heads = np.full(1 << (bits - 4), -1, np.int32)
            filter_ = np.zeros((1 << bits) // 64, np.uint64)
            count = 0
        start = offsets[1:126].copy()  # of each slice: from here on the indices are above d
        for d in range(N - 1, -1, -1):
            for s in range(125):
                while start[s] > offsets[s] and indices[start[s] - 1] > d:
                    start[s] -= 1
            for c in range(4):
                x = scaled[d, c]
                s = _missing(opposite, _slice(x))
                if fill == 0:
                    count += offsets[s + 1] - start[s]
                    continue
                for t in range(start[s], offsets[s + 1]):
                    key = _reduced(_FIVES - _reduced(x + words[t]))
                    h = (key * _ODD) >> shift
                    filter_[h >> _SIX] |= _ONE << (h & _MASK)
                    row = np.int64(h >> _FOUR)
                    keys[count], nexts[count] = key, heads[row]
                    first[count], second[count] = d, indices[t]
                    heads[row] = count
                    count += 1
    return keys, first, second, nexts, heads, filter_, shift


@_compiled
def quadruples(target, table, scaled, words, indices, offsets, out):  # type: ignore[no-untyped-def]
    """Sets a < b < d < e with x_a + c x_b in the table of pairs; how many, of which out holds the
    first."""
    keys, first, second, nexts, heads, filter_, shift = table
    found = 0
    for a in range(len(scaled)):
        x = scaled[a, 0]
        s = _missing(target, _slice(x))
        for t in range(offsets[s], offsets[s + 1]):
            if indices[t] <= a:
                continue
            total = _reduced(x + words[t])
            h = (total * _ODD) >> shift
            if not (filter_[h >> _SIX] >> (h & _MASK)) & _ONE:
                continue
            at = heads[np.int64(h >> _FOUR)]
            while at >= 0:
                if keys[at] == total and first[at] > indices[t]:
                    if found < len(out):
                        out[found, 0], out[found, 1] = a, indices[t]
                        out[found, 2], out[found, 3] = first[at], second[at]
                    found += 1
                at = nexts[at]
    return found


@_compiled
def quintuples(  # type: ignore[no-untyped-def]
    target, table, scaled, by_slice, wide, modulo_q, out
):
    """Sets a < b < c < d < e, x_a + .. x_b + .. x_c in the table of pairs, that are dependent
    modulo q in `wide` too; (how many, out holds the first; how many were looked at)."""
    keys, first, second, nexts, heads, filter_, shift = table
    words, indices, offsets = by_slice
    inverses, q = modulo_q
    found, alarms, N = 0, 0, len(scaled)
    chosen, work = np.empty(5, np.int64), np.empty((5, wide.shape[1]))
    start = offsets[1:126].copy()
    lacking = np.empty(125, np.int64)
    for s in range(125):
        lacking[s] = _missing(target, s)
    for b in range(N - 1, 0, -1):
        for s in range(125):
            while start[s] > offsets[s] and indices[start[s] - 1] > b:
                start[s] -= 1
        for c in range(4):
            y = scaled[b, c]
            for a in range(b):
                x = _reduced(scaled[a, 0] + y)
                s = lacking[_slice(x)]
                for t in range(start[s], offsets[s + 1]):
                    total = _reduced(x + words[t])
                    h = (total * _ODD) >> shift
                    if not (filter_[h >> _SIX] >> (h & _MASK)) & _ONE:
                        continue
                    at = heads[np.int64(h >> _FOUR)]
                    while at >= 0:
                        if keys[at] == total and first[at] > indices[t]:
                            chosen[0], chosen[1], chosen[2] = a, b, indices[t]
                            chosen[3], chosen[4] = first[at], second[at]
                            alarms += 1
                            if dependent(wide, chosen, 5, work, inverses, q):
                                if found < len(out):
                                    out[found] = chosen
                                found += 1
                        at = nexts[at]
    return found, alarms
