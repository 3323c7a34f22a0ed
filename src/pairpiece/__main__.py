"""``python -m pairpiece`` is ``pairpiece``."""

import sys

from pairpiece.commands import main

if __name__ == "__main__":
    sys.exit(main())
