#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names sources that do not say, in one of their first two lines, under which license they are."""
import pathlib
import sys

LINE = "SPDX-License-Identifier: BSD-3-Clause"
FOLDERS = ("include", "src", "tools", "examples", "tests", "bench", "emu", "cmake", "python", "fortran", "packaging")
SUFFIXES = (".h", ".c", ".cpp", ".py", ".sh", ".cmake", ".f90", ".js", ".css", ".html")


def is_source(path):
    return path.suffix in SUFFIXES or path.name in ("CMakeLists.txt", "Containerfile")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    without = [path.relative_to(root)
               for top in FOLDERS for path in sorted((root / top).rglob("*"))
               if is_source(path) and not any(LINE in line for line in path.read_text().split("\n", 2)[:2])]
    for path in without:
        print(f"{path}: no line `{LINE}` at its beginning")
    return 1 if without else 0


if __name__ == "__main__":
    sys.exit(main())
