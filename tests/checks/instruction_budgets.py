#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of the hot paths, which time is too noisy to judge: each of heddle_paths takes no more
than its line in bench/paths/budgets.txt says.

Counted with Callgrind as the difference between two lengths of the same run, so that set-up cancels
out. instruction_budgets.py HEDDLE_PATHS BUDGETS SECTION; ends in 77 where there is no valgrind.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SHORT, LONG = 6400, 12800
SETTINGS = {
    # An executor lends the lane at a time that no count can foresee.
    "shm": {"HEDDLE_BACKENDS": "shm", "HEDDLE_PROGRESS": "inline"},
    "adaptive": {"HEDDLE_BACKENDS": "shm"},
    "tcp": {"HEDDLE_BACKENDS": "tcp", "HEDDLE_PROGRESS": "inline"},
    "utofu": {"HEDDLE_BACKENDS": "utofu", "HEDDLE_UTOFU_LANES": "2", "HEDDLE_PROGRESS": "inline"},
    "verbs": {"HEDDLE_BACKENDS": "verbs", "HEDDLE_PROGRESS": "inline"},
}


def read_budgets(text, section):
    """{path: budget} of one section."""
    current, budgets = None, {}
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0].startswith("["):
            current = words[0].strip("[]")
        elif current == section:
            budgets[words[0]] = int(words[1])
    return budgets


def counted(program, path, times, settings, folder):
    """Instructions of the whole run."""
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", program, path, str(times)]
    ran = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, timeout=240)
    found = re.search(r"Collected : (\d+)", ran.stderr)
    if ran.returncode != 0 or not found:
        sys.exit(f"{' '.join(command)}: {ran.stderr}")
    return int(found[1])


def main():
    if not shutil.which("valgrind"):
        print("no valgrind")
        return 77
    program, file, section = sys.argv[1:]
    budgets = pathlib.Path(file).read_text()
    over = False
    with tempfile.TemporaryDirectory() as folder:
        for path, budget in read_budgets(budgets, section).items():
            counts = [counted(program, path, n, SETTINGS[section], folder) for n in (SHORT, LONG)]
            each = (counts[1] - counts[0]) / (LONG - SHORT)
            over |= each > budget
            print(f"{path:12}{each:10.1f} of {budget}{'' if each <= budget else '  TOO MANY'}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
