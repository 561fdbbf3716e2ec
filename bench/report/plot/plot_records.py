# SPDX-License-Identifier: BSD-3-Clause
"""Reading records, and putting together those that make one figure and one curve."""
import collections
import json

# The fields of bench/report/record.h that a figure needs, and their types.
FIELDS = {
    "benchmark": str, "op": str, "backend": str, "library": str, "ranks": int, "threads": int,
    "bytes": int, "metric": str, "unit": str, "median": (int, float), "ci95_low": (int, float),
    "ci95_high": (int, float),
}
# What is said by a figure's place, or is no part of what was measured.
NOT_IN_A_LABEL = set(FIELDS) | {"p99", "runs", "rounds", "file"}


def check(record):
    """Raises ValueError saying what is wrong."""
    if not isinstance(record, dict):
        raise ValueError("not an array of benchmark records")
    for name, kind in FIELDS.items():
        if name not in record:
            raise ValueError(f"not benchmark records: a field '{name}' is missing")
        if not isinstance(record[name], kind) or isinstance(record[name], bool):
            raise ValueError(f"'{name}' has the wrong type")


def with_modes_as_libraries(record):
    """Progress modes that take turns belong into one figure, a curve for each."""
    if record["benchmark"] != "adaptive" or record["op"] == "cache-line":
        return record
    return record | {"library": f"heddle {record['op']}", "op": "tag"}


def read(path):
    """The file's records. Raises ValueError saying what else it is, or OSError."""
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    if not isinstance(found, list):
        raise ValueError("not an array of benchmark records")
    for record in found:
        check(record)
        record["file"] = path.stem
    return [with_modes_as_libraries(record) for record in found]


def is_drawn(record):
    """Not ratios, whose parts are drawn, nor checks, nor what the machine did beside."""
    metric = record["metric"]
    return not metric.startswith("ratio") and metric != "lost_updates" and record["op"] != "cache-line"


def groups(records, *fields):
    """{values of the fields: records}, in the order of the values."""
    found = collections.defaultdict(list)
    for record in records:
        found[tuple(record[name] for name in fields)].append(record)
    return dict(sorted(found.items()))


def size_text(size):
    """1048576 as 1M."""
    for unit, name in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{name}"
    return str(size)


def parts_of(record, x):
    """What tells curves of a figure over `x` apart, as words."""
    parts = {"library": record["library"]}
    if x != "threads":
        parts["threads"] = f"{record['threads']} threads"
    if x != "bytes":
        parts["bytes"] = f"{size_text(record['bytes'])} B"
    parts["ranks"] = f"{record['ranks']} ranks"
    for name in sorted(set(record) - NOT_IN_A_LABEL):  # of benchmarks that this does not know
        parts[name] = f"{name} {record[name]}"
    return parts


def varying(all_parts):
    """The names of those parts that are not the same everywhere; the library always is told."""
    names = dict.fromkeys(name for parts in all_parts for name in parts)
    return [name for name in names
            if name == "library" or len({parts.get(name) for parts in all_parts}) > 1]


def split(label, records, x):
    """Records that fall on each other come from several files or runs: one curve for each."""
    if len({record[x] for record in records}) == len(records):
        return {label: records}
    found, seen = {}, collections.Counter()
    for record in sorted(records, key=lambda each: each["file"]):
        seen[record["file"], record[x]] += 1
        nth = seen[record["file"], record[x]]
        again = f" ({nth})" if nth > 1 else ""
        found.setdefault(f"{label}, {record['file']}{again}", []).append(record)
    return found


def curves(records, x):
    """{label: records by x}, Heddle's first."""
    all_parts = [parts_of(record, x) for record in records]
    names = varying(all_parts)
    found = collections.defaultdict(list)
    for record, parts in zip(records, all_parts):
        label = ", ".join(parts[name] for name in names if name in parts)
        found[label].append(record)
    result = {}
    for label in sorted(found, key=lambda text: (not text.startswith("heddle"), text)):
        for name, some in split(label, found[label], x).items():
            result[name] = sorted(some, key=lambda record: record[x])
    return result
