#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a source or page refers to a page that the project does not have, so that a reader could not
follow it: a file that is not here, a numbered section (ours have titles), or somebody's research.
"""
import pathlib
import re

import complaining

FOLDERS = ("include", "src", "tools", "examples", "tests", "bench", "emu", "cmake", "docs", "python", "fortran",
           "packaging")
SUFFIXES = (".h", ".c", ".cpp", ".in", ".py", ".sh", ".cmake", ".txt", ".f90", ".md")
# Pages that a program of ours writes.
MADE = {"table.md"}
# It has examples of what it refuses.
EXAMPLES = "tests/checks/lint_scripts_test.py"

PAGE = re.compile(r"(?<![\w}@/.-])([\w./-]*\w\.md)\b(,? (?:section |§ ?)?\d)?")
RESEARCH = re.compile(r"\bresearch:|\bthe research\b", re.I)


def files(root):
    """What is looked at: sources and pages in the folders, and the pages beside them."""
    yield from sorted(root.glob("*.md"))
    for top in FOLDERS:
        yield from (p for p in sorted((root / top).rglob("*")) if p.suffix in SUFFIXES and p.is_file())


def is_there(name, pages):
    """Whether it is a page, or the end of one's path: pages are named from the root, or in short."""
    end = "/" + re.sub(r"^(\.{0,2}/)+", "", name)
    return pathlib.PurePath(name).name in MADE or any(page.endswith(end) for page in pages)


def complaints(root):
    """Yields "file:line: reason"."""
    looked_at = list(files(root))
    pages = ["/" + p.relative_to(root).as_posix() for p in looked_at if p.suffix == ".md"]
    for path in looked_at:
        file = path.relative_to(root).as_posix()
        if file == EXAMPLES or file == "cmake/lint/check_references.py":
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if path.suffix == ".sh":  # its commands have files of their own
                line = line.partition("#")[2]
            if RESEARCH.search(line):
                yield f"{file}:{number}: refers to research that is not part of the project"
            for name, section in PAGE.findall(line):
                if not is_there(name, pages):
                    yield f"{file}:{number}: there is no page {name}"
                elif section:
                    yield f"{file}:{number}: sections of {name} have no numbers"


if __name__ == "__main__":
    complaining.run(complaints)
