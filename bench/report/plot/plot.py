#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws figures from the records of `heddle bench --json`; `heddle bench plot` runs this.

Prints the path of every figure. Ends with 1 and one line on stderr when there is nothing to draw or
it can not be written; files that are no records are named there and left out.
"""
import argparse
import pathlib
import sys

import plot_records


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="with files of records, *.json")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the figures")
    parser.add_argument("--format", default="png", help="png, svg, pdf; several with commas")
    return parser.parse_args()


def complain(text):
    print(f"heddle bench plot: {text}", file=sys.stderr)


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
        records = load(given.folder)
        # Only now: importing matplotlib takes longer than all the rest.
        import plot_figures
        given.out.mkdir(parents=True, exist_ok=True)
        paths = list(plot_figures.draw_all(records, given.out, given.format.split(",")))
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
