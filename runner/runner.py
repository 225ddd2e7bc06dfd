#!/usr/bin/env python3
"""Runs one node of a Modly extension as a worker: one JSON object a line on stdin and stdout.

Standard library only, Python 3.9 or later. The protocol is described in hotbunk_runner/loop.py.
Exit status: 0 after shutdown or end of input, 1 when the extension cannot be imported.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from hotbunk_runner.loop import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
