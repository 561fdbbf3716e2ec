# SPDX-License-Identifier: BSD-3-Clause
"""What the checks of this folder do with what they find."""
import pathlib
import sys


def run(complaints, counts=lambda complaint: True):
    """Prints what `complaints(root)` yields, of the tree that the command names; without one, of this folder. Ends
    the program, with 1 where one of them `counts`."""
    found = list(complaints(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if any(map(counts, found)) else 0)
