#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws figures from the records of `heddle bench --json`; `heddle bench plot` runs this.

Prints the path of every figure. Ends with 1 and one line on stderr when there is nothing to draw or
it can not be written; files that are no records are named there and left out.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import sys

DEBIANS_PYTHON = "/usr/bin/python3"
# The fields of bench/report/record.h that a figure needs, and their types.
FIELDS = {
    "benchmark": str, "op": str, "backend": str, "library": str, "ranks": int, "threads": int,
    "bytes": int, "metric": str, "unit": str, "median": (int, float), "ci95_low": (int, float),
    "ci95_high": (int, float),
}


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


def read(path):
    """The file's records. Raises ValueError saying what else it is, or OSError."""
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, list) or not all(isinstance(record, dict) for record in found):
        raise ValueError("not an array of benchmark records")
    for record in found:
        for name, kind in FIELDS.items():
            if name not in record:
                raise ValueError(f"not benchmark records: a field '{name}' is missing")
            if not isinstance(record[name], kind) or isinstance(record[name], bool):
                raise ValueError(f"'{name}' has the wrong type")
        record["file"] = path.stem
        # Progress modes that take turns belong into one figure, a curve for each.
        if record["benchmark"] == "adaptive" and record["op"] != "cache-line":
            record |= {"library": f"heddle {record['op']}", "op": "tag"}
    return found


def is_drawn(record):
    """Not ratios, whose parts are drawn, nor checks, nor what the machine did beside."""
    metric = record["metric"]
    return not metric.startswith("ratio") and metric != "lost_updates" and record["op"] != "cache-line"


def load(folder):
    """All records in the folder that can be drawn. Raises OSError, LookupError."""
    records = []
    for path in sorted(path for path in folder.iterdir() if path.suffix == ".json"):
        try:
            records += read(path)
        except ValueError as why:
            complain(f"left out '{path}': {why}")
    if not records:
        raise LookupError(f"there are no benchmark records in '{folder}'; write some with "
                          f"heddle bench latency --json {folder}/latency.json")
    records = [record for record in records if is_drawn(record)]
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
        for path in plot_figures.draw_all(records, given.out, given.format or ["png"]):
            print(path)
        return 0
    except ImportError as why:
        complain(f"{why}; on Debian: apt install python3-matplotlib")
    except OSError as why:
        complain(f"'{why.filename}': {why.strerror}")
    except LookupError as why:
        complain(why.args[0])
    return 1


if __name__ == "__main__":
    sys.exit(main())
