"""The compiled search that `middle.py` uses: equal sums of at most three scaled vectors of F_5^16.

A vector of F_5^16 is one 64-bit word with a nibble (0 to 4) for each coordinate. Sums of nibbles
are at most 8 and are reduced without a carry. The seven lowest nibbles are the *slice* of the
vector, one of 5^7. The other nine are its *key*, one of 5^9, which serves as the address in a
table, so that nothing is hashed. Within a slice the seven nibbles are known, so their bits store
the indices of the vectors in a sum instead.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from attncert.verify.kruskal.methods.determinants import BLOCK, singular
from attncert.verify.kruskal.methods.quotient_compiled import _residue, dependent, note

MOST = 4095  # maximum number of vectors: an index has 12 bits, and the last one means "none"
REPRESENTATIVES = 1 + (5**7 - 1) // 4
"""The number of slices up to a factor in F_5; the first slice is 0."""

_SLICES, _PARTS = 5**7, 25
_ROOM = 1 << 27  # maximum number of sums in one slice; each takes 20 bytes
_QUEUE = 8 * BLOCK
_STEPS = 1 << 28  # a limit on steps along chains in one slice; random sums stay far below it
_SPANS = 1 << 30  # a limit on vectors compared with sets of k - 1 in one call

_compiled = njit(cache=True, nogil=True)
_inlined = njit(nogil=True, forceinline=True)
_THREES, _EIGHTS = np.uint64(0x3333333333333333), np.uint64(0x8888888888888888)
_NIBBLES, _BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x00FF00FF00FF00FF)
_1, _3, _4, _5, _8, _12, _16, _24, _25, _28, _32, _36, _41, _625 = (
    np.uint64(x) for x in (1, 3, 4, 5, 8, 12, 16, 24, 25, 28, 32, 36, 41, 625)
)
_LOW28, _FIELD, _BYTE, _PART = (np.uint64(x) for x in (0xFFFFFFF, 0xFFFF, 0xFF, 0x1F))
_INDEX, _TWO = np.uint64(0xFFF), np.uint64(0xFFFFFF)
_NO_THIRD, _NO_SECOND = np.uint64(0xFFF000000), np.uint64(0xFFFFFF000)


@_inlined
def _reduced(t):  # type: ignore[no-untyped-def]
    """Reduce nibbles of at most 8 modulo 5. Adding 3 sets the top bit of each nibble that is 5 or
    more."""
    return t - _5 * (((t + _THREES) & _EIGHTS) >> _3)


@_inlined
def _dense(x):  # type: ignore[no-untyped-def]
    """The number whose base-5 digits, lowest first, are these nibbles; there are at most eight."""
    x = (x & _NIBBLES) + _5 * ((x >> _4) & _NIBBLES)
    x = (x & _BYTES) + _25 * ((x >> _8) & _BYTES)
    return (x & _FIELD) + _625 * (x >> _16)


@_inlined
def _address(x):  # type: ignore[no-untyped-def]
    """The key of a word, in the highest 28 bits: its last seven digits, then two in 5 bits."""
    x = x >> _28
    x = (x & _NIBBLES) + _5 * ((x >> _4) & _NIBBLES)
    place = ((x >> _8) & _BYTE) + _25 * ((x >> _16) & _BYTE)
    place += _625 * (((x >> _24) & _BYTE) + _25 * (x >> _32))
    return (x & _BYTE) << _36 | place << _41


@_inlined
def _largest(sum_):  # type: ignore[no-untyped-def]
    """The largest index of a vector in a sum."""
    third, second = (sum_ >> _24) & _INDEX, (sum_ >> _12) & _INDEX
    if third != _INDEX:
        return third
    return second if second != _INDEX else sum_ & _INDEX


@_compiled
def representative(number):  # type: ignore[no-untyped-def]
    """A representative slice, as seven nibbles: 0, or a slice whose highest nonzero nibble is 1."""
    if number == 0:
        return np.uint64(0)
    rest, digits, count = number - 1, 0, 1
    while rest >= count:
        rest, digits, count = rest - count, digits + 1, count * 5
    word = np.uint64(1) << np.uint64(4 * digits)
    for place in range(digits):
        word |= np.uint64(rest % 5) << np.uint64(4 * place)
        rest //= 5
    return word


@_compiled
def pairs_by_slice(scaled):  # type: ignore[no-untyped-def]
    """All sums of two scaled vectors a < b, sorted by slice and then by b.

    scaled: (N, 4) words, each vector times 1, 2, 3 and 4; N <= MOST. Returns words, with the key in
    the upper 36 bits and then b and a in 12 bits each, and the offsets (5^7 + 1,) of the slices.
    """
    N = len(scaled)
    offsets, words = np.zeros(_SLICES + 1, np.int64), np.empty(8 * N * (N - 1), np.uint64)
    place = offsets[:-1]
    for fill in range(2):
        if fill == 1:
            for s in range(_SLICES):
                offsets[s + 1] += offsets[s]
            place = offsets[:-1].copy()
        for b in range(N):
            for j in range(4):
                for a in range(b):
                    for i in range(4):
                        total = _reduced(scaled[a, i] + scaled[b, j])
                        s = np.int64(_dense(total & _LOW28))  # type: ignore[assignment]
                        if fill == 0:
                            offsets[s + 1] += 1
                            continue
                        words[place[s]] = (total & ~_LOW28) | np.uint64(b) << _12 | np.uint64(a)
                        place[s] += 1
    return words, offsets


@_compiled
def _partners(target, scaled, pairs, begin, end):  # type: ignore[no-untyped-def]
    """For each scaled vector c, the range of pairs a < b < c whose sum with c is in the slice.
    Returns the number of these pairs."""
    words, offsets = pairs
    count = 0
    for c in range(len(scaled)):
        for j in range(4):
            s = np.int64(_dense(_reduced(target + (scaled[c, 3 - j] & _LOW28))))
            low, high = offsets[s], offsets[s + 1]
            begin[4 * c + j] = low
            while low < high:
                middle = (low + high) // 2
                if np.int64((words[middle] >> _12) & _INDEX) < c:
                    low = middle + 1
                else:
                    high = middle
            end[4 * c + j] = low
            count += low - begin[4 * c + j]
    return count


@_compiled
def _dependent_with(members, k, square, q, inverses, work, sums):  # type: ignore[no-untyped-def]
    """Set sums[c] = 0 for all c in the span of these k - 1 vectors modulo q, and possibly for other
    c, by means of a vector orthogonal to the span.

    square: (k, N). Returns False if the dimension of the span is smaller than k - 1.
    """
    over_q, half, N = 1.0 / q, 0.5 / q, square.shape[1]
    pivots = np.empty(k, np.int64)  # the pivot of each row, and finally the column without a pivot
    free = k * (k - 1) // 2
    for r in range(k - 1):
        for j in range(k):
            work[r, j] = square[j, members[r]]
        for above in range(r):
            factor = work[r, pivots[above]]
            for j in range(k):
                work[r, j] = _residue(work[r, j] - factor * work[above, j], q, over_q, half)
        pivot = 0
        while pivot < k and work[r, pivot] == 0:
            pivot += 1
        if pivot == k:
            return False
        scale = inverses[np.int64(work[r, pivot])]
        for j in range(k):
            work[r, j] = _residue(work[r, j] * scale, q, over_q, half)
        for above in range(r):
            factor = work[above, pivot]
            for j in range(k):
                work[above, j] = _residue(work[above, j] - factor * work[r, j], q, over_q, half)
        pivots[r] = pivot
        free -= pivot
    for c in range(N):
        sums[c] = square[free, c]
    for r in range(k - 1):
        factor = work[r, free]
        for c in range(np.uint64(N)):
            sums[c] = _residue(sums[c] - factor * square[pivots[r], c], q, over_q, half)
    return True


@_compiled
def _look(first, second, k, checks, counts, hits, small, work, sums):  # type: ignore[no-untyped-def]
    """Test a set modulo q, or list it, if two equal sums show that it is dependent modulo 5."""
    _, square, wide, inverses, q = checks
    members, size = np.empty(6, np.int64), 0
    for part in (first, second):
        for _ in range(3):
            if part & _INDEX != _INDEX:
                members[size] = part & _INDEX
                size += 1
            part >>= _12
    if size == k - 1:
        counts[3] += 1
        if _dependent_with(members, k, square, q, inverses, work, sums):
            for c in range(len(sums)):
                if sums[c] != 0:
                    continue
                members[k - 1], place = c, 0
                while members[place] != c:
                    place += 1
                if place == k - 1 and dependent(wide, members, k, work, inverses, q):
                    counts[0] = note(hits, counts[0], members, k)
            return
    if size == k:
        counts[2] += 1
        if dependent(wide, members, k, work, inverses, q):
            counts[0] = note(hits, counts[0], members, k)
        return
    counts[1] = note(small, counts[1], members, size)


@_compiled
def _sums(target, scaled, pairs, begin, end, out):  # type: ignore[no-untyped-def]
    """Write the sums of one, two and three scaled vectors in the slice; return how many there are.

    Each sum is one word: the last part of the key (12 bits), its first part (10 bits), and three
    indices (12 bits each; MOST if absent). Shorter sums come first. Sums of three are sorted by
    their largest index.
    """
    words, offsets = pairs
    s, n = np.int64(_dense(target)), 0
    for d in range(len(scaled)):
        for i in range(4):
            if scaled[d, i] & _LOW28 == target:
                out[n] = _address(scaled[d, i]) | _NO_SECOND | np.uint64(d)
                n += 1
    for t in range(offsets[s], offsets[s + 1]):
        out[n] = _address(words[t]) | _NO_THIRD | (words[t] & _TWO)
        n += 1
    for c in range(len(scaled)):
        for j in range(4):
            low, x = np.uint64(begin[4 * c + j]), scaled[c, j] & ~_LOW28
            many, place = np.uint64(end[4 * c + j]) - low, np.uint64(n)
            for t in range(many):
                word = words[low + t]
                address = _address(_reduced((word & ~_LOW28) + x))
                out[place + t] = address | np.uint64(c) << _24 | (word & _TWO)
            n += np.int64(many)  # type: ignore[assignment]
    return n


@_compiled
def _by_part(sums, n, out, bounds):  # type: ignore[no-untyped-def]
    """Sort the sums by the first part of their keys; the sort is stable. bounds: (26,), the
    positions at which the parts begin."""
    bounds[:] = 0
    for t in range(np.uint64(n)):
        bounds[((sums[t] >> _36) & _PART) + _1] += 1
    for part in range(_PARTS):
        bounds[part + 1] += bounds[part]
    place = bounds[:-1].copy()
    for t in range(np.uint64(n)):
        part = (sums[t] >> _36) & _PART
        out[place[part]] = sums[t]
        place[part] += 1


@_compiled
def equal_sums(  # type: ignore[no-untyped-def]
    start, stop, k, scaled, pairs, checks, hits, small
):
    """Sets of 2 to k vectors (k = 5 or 6) that have a relation modulo 5 with nonzero coefficients,
    found in the slices of the representatives start .. stop - 1.

    checks: coordinates (N, 6) for `determinants.singular`, coordinates (k, N) and (N, w) modulo q,
    inverses, and q. Sets of k, and sets of k - 1 extended by any other vector, are tested modulo q;
    the dependent sets are written to `hits` (h, k). `small` (m, k), initially -1, receives the sets
    of 2 to k - 2 vectors, and the sets of k - 1 vectors that are dependent in k coordinates.
    Returns the numbers of hits and of small sets (sets that do not fit are not written), and of the
    tested sets of k and of k - 1. If the number of hits is -1, more sums are equal than can be
    tested, and nothing is claimed.
    """
    N, offsets = len(scaled), pairs[1]
    begin, end = np.empty(4 * N, np.int64), np.empty(4 * N, np.int64)
    heads = np.empty(5**7, np.uint32)  # the number of the last sum with each key in this part, or 0
    bounds = np.empty(_PARTS + 1, np.int64)
    sums, sorted_ = np.empty(1, np.uint64), np.empty(1, np.uint64)
    following = np.empty(1, np.uint32)
    alarms, queued = np.empty((_QUEUE, 2), np.uint64), 0
    counts, work = np.zeros(4, np.int64), np.empty((k, max(k, checks[2].shape[1])))
    inside = np.empty(N)
    for number in range(start, stop):
        target = representative(number)
        s = np.int64(_dense(target))
        room = 4 * N + offsets[s + 1] - offsets[s]
        room += _partners(target, scaled, pairs, begin, end)
        if room > _ROOM:
            counts[0] = -1
            return counts
        if room > len(sums):
            sums, sorted_ = np.empty(room * 5 // 4, np.uint64), np.empty(room * 5 // 4, np.uint64)
            following = np.empty(room * 5 // 4, np.uint32)
        n = _sums(target, scaled, pairs, begin, end, sums)
        _by_part(sums, n, sorted_, bounds)
        steps = 0
        for part in range(_PARTS):
            low, high = bounds[part], bounds[part + 1]
            heads[:] = 0
            for t in range(low, high):
                sum_ = sorted_[t]
                key, a, last = sum_ >> _41, sum_ & _INDEX, (sum_ >> _24) & _INDEX
                at = np.int64(heads[key])
                next_ = at
                while at > 0:
                    other = sorted_[low + at - 1]
                    at = np.int64(following[low + at - 1])
                    steps += 1
                    if (other >> _24) & _INDEX < a:  # the first three precede the other three
                        alarms[queued, 0], alarms[queued, 1] = other, sum_
                        queued += 1
                        if queued == _QUEUE:
                            queued = singular(alarms, checks[0])
                            counts[2] += _QUEUE - queued
                            for i in range(queued):
                                first, second = alarms[i, 0], alarms[i, 1]
                                _look(first, second, k, checks, counts, hits, small, work, inside)
                            queued = 0
                    elif (other >> _24) & _INDEX == _INDEX:  # one or two
                        first, second = sum_, other
                        if sum_ & _NO_SECOND == _NO_SECOND:
                            first, second = other, sum_
                        pairs_both = last == _INDEX and second & _NO_SECOND != _NO_SECOND
                        if _largest(first) < second & _INDEX and not pairs_both:
                            _look(first, second, k, checks, counts, hits, small, work, inside)
                if k == 6 or last == _INDEX:  # if k = 5, the upper sum has at most two terms
                    following[t] = next_
                    heads[key] = t - low + 1
            if steps > _STEPS or N * counts[3] > _SPANS or counts[1] > len(small):
                counts[0] = -1
                return counts
    for i in range(queued):
        _look(alarms[i, 0], alarms[i, 1], k, checks, counts, hits, small, work, inside)
    return counts
