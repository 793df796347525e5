"""python -m attncert."""

import sys

from attncert.cli import main

if __name__ == "__main__":
    sys.exit(main())
