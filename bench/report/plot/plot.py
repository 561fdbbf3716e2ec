#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws figures from the records of `heddle bench --json`; `heddle bench plot` runs this.

Prints the path of every figure. Ends with 1 and one line on stderr when there is nothing to draw or
it can not be written; files that are no records are named there and left out.
"""
import argparse
import importlib.util
import os
import pathlib
import sys

import plot_records

DEBIANS_PYTHON = "/usr/bin/python3"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="with files of records, *.json")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the figures")
    parser.add_argument("--format", action="append", help="png, svg or pdf; may be repeated")
    return parser.parse_args()


def complain(text):
    print(f"heddle bench plot: {text}", file=sys.stderr)


def find_matplotlib():
    """PATH may begin with a Python that has no packages; Debian's own then goes on. Raises ImportError."""
    if importlib.util.find_spec("matplotlib"):
        return
    if sys.executable != DEBIANS_PYTHON and os.access(DEBIANS_PYTHON, os.X_OK):
        os.execv(DEBIANS_PYTHON, [DEBIANS_PYTHON, "-B", *sys.argv])
    raise ImportError("drawing needs matplotlib for Python")


def load(folder):
    """All records in the folder that can be drawn. Raises OSError, LookupError."""
    records = []
    for path in sorted(path for path in folder.iterdir() if path.suffix == ".json"):
        try:
            records += plot_records.read(path)
        except ValueError as why:
            complain(f"left out '{path}': {why}")
    if not records:
        raise LookupError(f"there are no benchmark records in '{folder}'; write some with "
                          f"heddle bench latency --json {folder}/latency.json")
    records = [record for record in records if plot_records.is_drawn(record)]
    if not records:
        raise LookupError(f"there is nothing to draw in '{folder}' but ratios and cache lines")
    return records


def main():
    given = arguments()
    try:
        find_matplotlib()
        records = load(given.folder)
        # Only now: importing matplotlib takes longer than all the rest.
        import plot_figures
        given.out.mkdir(parents=True, exist_ok=True)
        paths = list(plot_figures.draw_all(records, given.out, given.format or ["png"]))
    except ImportError as why:
        complain(f"{why}; on Debian: apt install python3-matplotlib")
        return 1
    except OSError as why:
        complain(f"'{why.filename}': {why.strerror}")
        return 1
    except LookupError as why:
        complain(why.args[0])
        return 1
    print("\n".join(str(path) for path in paths))
    return 0


if __name__ == "__main__":
    sys.exit(main())
