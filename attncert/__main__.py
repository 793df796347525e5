"""python -m attncert."""

from attncert.cli import process

if __name__ == "__main__":
    process()
