#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names sources that have grown beyond one page: a warning above 400 lines, an error above 600."""
import pathlib
import sys

WARN, FAIL = 400, 600


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    failed = False
    for top in ("include", "src", "tools", "examples", "tests", "bench", "emu"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (".h", ".c", ".cpp"):
                continue
            lines = len(path.read_text().splitlines())
            if lines > WARN:
                failed = failed or lines > FAIL
                word = "error" if lines > FAIL else "warning"
                print(f"{path.relative_to(root)}: {word}: {lines} lines, split it by concern")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
