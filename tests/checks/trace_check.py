# SPDX-License-Identifier: BSD-3-Clause
"""Reads files of HEDDLE_TRACE as another program would, by the rules of Chrome's trace format, and says what
breaks them.

  trace_check.py FILE...      1: something does
"""
import collections
import json
import numbers
import sys


def complaints(trace):
    """Yields what is wrong with one file's object."""
    if trace.get("displayTimeUnit") not in ("ms", "ns"):
        yield "displayTimeUnit is neither ms nor ns"
    open_pairs = collections.Counter()
    named, seen = set(), set()
    for number, event in enumerate(trace["traceEvents"]):
        where = f"event {number}, {event.get('name')!r}"
        for key, kind in ("name", str), ("ph", str), ("pid", int), ("tid", int):
            if not isinstance(event.get(key), kind):
                yield f"{where}: {key} is {event.get(key)!r}"
        phase = event["ph"]
        if phase == "M":
            named.add((event["name"], event["pid"], event["tid"]))
            continue
        seen.add((event["pid"], event["tid"]))
        if not isinstance(event.get("ts"), numbers.Real) or event["ts"] < 0:
            yield f"{where}: ts is {event.get('ts')!r}"
        if phase == "X":
            if not isinstance(event.get("dur"), numbers.Real) or event["dur"] < 0:
                yield f"{where}: dur is {event.get('dur')!r}"
        elif phase in "be":
            pair = event["pid"], event["cat"], event["id2"]["local"]
            open_pairs[pair] += 1 if phase == "b" else -1
            if open_pairs[pair] not in (0, 1):
                yield f"{where}: a pair of {pair} does not alternate"
        elif phase == "i":
            if event.get("s") not in ("t", "p", "g"):
                yield f"{where}: an instant has no scope"
        else:
            yield f"{where}: unknown phase {phase!r}"
    for pair, count in open_pairs.items():
        if count != 0:
            yield f"{pair} does not end"
    for process, thread in seen:
        if ("thread_name", process, thread) not in named:
            yield f"thread {thread} of rank {process} has no name"


def main():
    wrong = 0
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        for complaint in complaints(trace):
            print(f"{path}: {complaint}", file=sys.stderr)
            wrong = 1
        names = collections.Counter(event["name"] for event in trace["traceEvents"])
        print(path, " ".join(f"{name}={count}" for name, count in sorted(names.items())))
    return wrong


if __name__ == "__main__":
    sys.exit(main())
