#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""compare.py ONE.json OTHER.json: the tests on which two runs of tofu_conformance disagree."""
import json
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return {test["number"]: test for test in json.load(file)["tests"]}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    one, other = load(sys.argv[1]), load(sys.argv[2])
    disagree = False
    for number in sorted(one.keys() | other.keys()):
        pair = [run.get(number, {"name": "", "result": "absent", "details": ""}) for run in (one, other)]
        if pair[0]["result"] == pair[1]["result"]:
            continue
        disagree = True
        print(f"{number:2} {pair[0]['name'] or pair[1]['name']}")
        for test in pair:
            print(f"     {test['result']}: {test['details']}")
    sys.exit(1 if disagree else 0)


main()
