#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a folder includes what it may not, uses atomics where they may not be, or when a
source does not include its own header first.

The rules are the tables below; docs/design explains them. Unit tests may include anything.
"""
import pathlib
import re

import complaining

# Folder under src/ -> folders under src/ it may include, besides itself and include/heddle.
# "backends" means the files directly in src/backends, the registry; "backends/*" is one wire.
ALLOWED = {
    "base": [],
    "sync": ["base"],
    "tracing": ["base", "sync"],
    "memory": ["base", "sync"],
    "transport": ["base", "sync", "memory"],
    "backends": ["base", "transport"],
    "backends/*": ["base", "sync", "memory", "transport"],
    "protocols": ["base", "sync", "tracing", "memory", "transport"],
    "bootstrap": ["base", "sync"],
    "engine": ["base", "sync", "tracing", "memory", "transport", "backends", "protocols", "bootstrap"],
    "collectives": [],
    "c": [],
}

# Folder under bench/ -> folders under bench/ it may include, besides itself: one way, no circles.
MEASURING = {
    "parts": [],
    "harness": ["parts"],
    "kernels": ["parts", "harness"],
    "libraries": ["parts", "harness", "kernels"],
    "report": ["parts", "harness"],
    "contenders": ["parts", "harness", "kernels", "libraries", "report"],
    "studies": ["parts", "harness", "kernels", "libraries", "report", "contenders"],
    "paths": ["parts", "libraries"],
}
# The command line stands above all of them.
COMMAND_LINE = re.compile(r"bench/")

# The rules' exceptions: file or folder -> what it may include on top.
EXCEPTIONS = {
    # The only file that names all wires: the registry of them.
    "src/backends/registry.cpp": re.compile(r"backends/\w+/\w+\.h"),
    # Tests put faults under a whole world by a setting; this is where devices are opened.
    "src/engine/network.cpp": re.compile(r"backends/faults/faults\.h"),
    # C has no other names for them.
    "include/heddle/c.h": re.compile(r"std(bool|def|int)\.h"),
    # A module is built against the contract.
    "examples/backend/": re.compile(r"transport/\w+\.h"),
    # The launcher speaks the protocol by which ranks join, and knows when it is one of them; info
    # tells that protocol's limits.
    "tools/run/": re.compile(r"bootstrap/(launcher_protocol|passed_file|table_writer|ways)\.h"),
    "tools/info/": re.compile(r"bootstrap/launcher_protocol\.h"),
    # info --scale joins by the real code, with everything around it made up.
    "tools/info/scale": re.compile(
        r"bootstrap/(store_session|store_tree|host_circle|host_gifts|gathered|meeting_point|meeting_point_protocol"
        r"|sealed_link)\.h|engine/world_core\.h"
        r"|backends/all_settings\.h|base/(error|fd)\.h"
    ),
}

# Where std::atomic may be named. Everybody else uses the types of src/sync.
ATOMIC_HOMES = (
    "src/sync/",
    "include/heddle/detail/",
    "tests/",
    "bench/",
    "emu/",  # knows nothing of Heddle
    # One word per peer that symmetric<T>::at() loads inline; resolve() fills it.
    "include/heddle/memory.h",
    "src/engine/region.cpp",
    # Levels that any thread reads; sync stands above base.
    "src/base/log.cpp",
)
# Programs share symmetric memory with their peers' atomics through std::atomic_ref.
PROGRAMS = ("tools/", "examples/")

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
ATOMIC = re.compile(r"\bstd::atomic|<atomic>")
ATOMIC_OBJECT = re.compile(r"\bstd::atomic(?!_ref\b)")
# Ours wherever it stands: the folders of src/, which third parties do not use.
OURS = re.compile(r"^(%s)/" % "|".join(sorted({key.split("/")[0] for key in ALLOWED})))


def area(path):
    """The row of ALLOWED for a path below src/: "sync", "backends", "backends/tcp"."""
    parts = path.split("/")
    if parts[0] == "backends" and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0]


def may_see_src(file, included):
    """Whether a file under src/ may include the header `included`, given relative to src/."""
    mine, theirs = area(file.removeprefix("src/")), area(included)
    if mine == theirs:
        return True
    row = "backends/*" if mine.startswith("backends/") else mine
    return theirs in ALLOWED.get(row, [])


def may_see_bench(file, included):
    """Whether a file under bench/ may include the header `included`, given relative to bench/."""
    mine, theirs = file.split("/")[1], included.split("/")[0]
    return mine == theirs or theirs in MEASURING[mine]


def allowed(file, included, quoted):
    """Whether `file` may include `included`; standard and foreign headers are nobody's business
    here, except in include/heddle, which has only the standard library."""
    for place, extra in EXCEPTIONS.items():
        if file.startswith(place) and extra.fullmatch(included):
            return True
    if file.startswith("include/heddle/"):
        standard = not quoted and "." not in included and "/" not in included
        return standard or (not quoted and included.startswith("heddle/"))
    if file.endswith("_test.cpp"):
        return True
    if file.startswith("bench/") and quoted and included.split("/")[0] in MEASURING:
        return may_see_bench(file, included)
    if file.startswith("bench/") and COMMAND_LINE.match(included):
        return False
    if file.startswith(("tests/", "bench/", "emu/")):
        return True
    if not OURS.match(included):
        return True
    return file.startswith("src/") and may_see_src(file, included)


def forbidden_atomics(file):
    """What a line of `file` must not contain, or None when it may use atomics."""
    if file.startswith(ATOMIC_HOMES) or file.endswith("_test.cpp"):
        return None
    return ATOMIC_OBJECT if file.startswith(PROGRAMS) else ATOMIC


def own_header_first(path):
    """Whether the first include of a source is the header of its name, if there is one."""
    if path.suffix != ".cpp" or not path.with_suffix(".h").exists():
        return True
    first = next(filter(None, map(INCLUDE.match, path.read_text().splitlines())), None)
    return first is not None and pathlib.Path(first[2]).name == path.stem + ".h"


def complaints(root):
    """Yields "file:line: reason" for each line that breaks a rule."""
    for top in ("include", "src", "tools", "examples", "tests", "bench", "emu"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            file = path.relative_to(root).as_posix()
            atomics = forbidden_atomics(file)
            if not own_header_first(path):
                yield f"{file}:1: does not include its own header first"
            for number, line in enumerate(path.read_text().splitlines(), 1):
                found = INCLUDE.match(line)
                if found and not allowed(file, found[2], found[1] == '"'):
                    yield f"{file}:{number}: may not include {found[2]}"
                if atomics and atomics.search(line.split("//")[0]):
                    yield f"{file}:{number}: std::atomic lives in src/sync"


if __name__ == "__main__":
    complaining.run(complaints)
