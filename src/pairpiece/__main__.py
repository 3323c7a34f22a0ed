"""``python -m pairpiece`` is ``pairpiece``."""

from pairpiece.commands import program

if __name__ == "__main__":
    program()
