"""The checker of certificates: python checker certificate.json [--json]

It needs only the standard library and trusts nothing in a file; docs/certificate.md states what is
proved. Read `claims.py` (the table of claims; `check_file`), `limits.py`, `reading.py`, `layer.py`,
then each claim in the file of its name.
"""

if __name__ == "__main__":
    print("unusable: run the folder: python checker certificate.json")
    raise SystemExit(2)

from .claims import CLAIMS, EXIT, Verdict, check_file
from .limits import LIMIT_MIB, LIMIT_SECONDS, Limits, Rejected, need

__all__ = [
    "CLAIMS",
    "EXIT",
    "LIMIT_MIB",
    "LIMIT_SECONDS",
    "Limits",
    "Rejected",
    "Verdict",
    "check_file",
    "need",
]
