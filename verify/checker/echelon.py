"""Independence of rows modulo a prime p, in long integers.

A row is one long integer with a slot of `width` bits for each entry. The multiple of a row, and the
sum of two rows, are then one operation of Python each. An entry is below p, and each of at most
`rows` multiples adds less than p^2 to it: below (rows + 1) * p^2, it stays in its slot.
"""

if __name__ == "__main__":
    print("unusable: run the folder: python checker certificate.json")
    raise SystemExit(2)

from bisect import insort


class Echelon:
    """Rows in echelon form; each leads with 1 in a column where the later ones are 0 modulo p.

    pivots: the column of each leading 1, in ascending order, and the row from there on.
    """

    def __init__(self, p: int, rows: int) -> None:
        self.p, self.bytes = p, (2 * p.bit_length() + rows.bit_length()) // 8 + 1
        self.width = 8 * self.bytes
        self.pivots: list[tuple[int, int]] = []

    def joins(self, row: list[int]) -> bool:
        """Whether the row is independent of the earlier ones; if so, it joins them."""
        p, width = self.p, self.width
        rest, at, slot = self.packed(row), 0, (1 << width) - 1
        for column, pivot in self.pivots:
            passed = rest & ((1 << width * (column - at)) - 1)
            start = self.first(passed)
            if start >= 0:
                return self.add(at + start, rest >> width * start)
            rest, at = rest >> width * (column - at), column
            if factor := (rest & slot) % p:
                rest += (p - factor) * pivot
        start = self.first(rest)
        return start >= 0 and self.add(at + start, rest >> width * start)

    def add(self, column: int, row: int) -> bool:
        entries = self.entries(row)
        inverse = pow(entries[0], -1, self.p)
        insort(self.pivots, (column, self.packed([x * inverse for x in entries])))
        return True

    def first(self, row: int) -> int:
        """The first entry that is not 0 modulo p, or -1."""
        return next((j for j, x in enumerate(self.entries(row)) if x), -1) if row else -1

    def packed(self, entries: list[int]) -> int:
        p, size = self.p, self.bytes
        return int.from_bytes(
            b"".join([(x % p).to_bytes(size, "little") for x in entries]), "little"
        )

    def entries(self, row: int) -> list[int]:
        size, length = self.bytes, -(-row.bit_length() // self.width) * self.bytes
        data = row.to_bytes(length, "little")
        return [
            int.from_bytes(data[j : j + size], "little") % self.p for j in range(0, length, size)
        ]
