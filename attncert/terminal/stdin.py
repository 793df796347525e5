"""`-` where a certificate is read: standard input as a file, which the checker reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def as_file(path: str) -> Iterator[str]:
    """The path; for "-" that of a copy of standard input, removed in the end. Raises InputError."""
    if path != "-":
        yield path
        return
    import tempfile

    from attncert.constructions.data.loading import STDIN, standard_input
    from attncert.constructions.errors import path_errors

    content = standard_input()
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "stdin")
        with path_errors(STDIN, "copied to a temporary folder", copy), open(copy, "wb") as file:
            file.write(content)
        yield copy
