"""Exit statuses for runs without an answer, as in shells and sysexits.h.

The other statuses, 0, 1 and 3, are in `Answer.exit_status` and the checker's `EXIT`.
"""

UNUSABLE = 2  # unusable input
INTERNAL_ERROR = 70  # a defect in the software
INTERRUPTED = 130
BROKEN_PIPE = 141
