"""The checker of certificates: python checker certificate.json [--json]

The checker needs only the standard library and trusts nothing in a certificate; docs/certificate.md
states what it proves. Start with `claims.py` (the table of claims and `check_file`), `limits.py`,
`reading.py` and `layer.py`. The table names the module that judges each claim.
"""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
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
