"""Exit statuses that say nothing of a claim, as shells and sysexits.h have them."""

INTERNAL_ERROR = 70  # a defect of the software
INTERRUPTED = 130
BROKEN_PIPE = 141
