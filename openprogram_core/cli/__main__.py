"""``python -m openprogram_core.cli``."""

from __future__ import annotations

import sys

from openprogram_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
