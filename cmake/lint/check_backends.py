#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when code outside a backend's folder names that backend: adding one is a folder, a line in
src/backends/CMakeLists.txt and a row in src/backends/registry.cpp, or a module and nothing else. What
the build has to know of one before is in its folder too: needs.cmake and install.cmake.
"""
import re

import complaining

# Not a wire: it wraps any of them.
WRAPPERS = {"faults"}
REGISTRY = "src/backends/registry.cpp"
# The build's list, and which packages there are.
BUILD_LISTS = ("src/backends/CMakeLists.txt", "cmake/Package.cmake")
# Where it is measured what each wire costs, and what each is to be compared with.
MEASURED = ("tools/bench/", "bench/")


def backends(root):
    """The folders in src/backends that are wires."""
    folders = (root / "src" / "backends").glob("*/")
    return sorted(f.name for f in folders if f.is_dir() and f.name not in WRAPPERS)


def naming(name):
    """What code that knows the backend `name` says: its name as text, a setting, a file, a type."""
    return re.compile(rf'"{name}"|HEDDLE_{name.upper()}_|\bbackends/{name}/|\b{name}::|\b{name}_factory')


def naming_in_cmake(name):
    """The same of the build: its name as a word, a target, an option."""
    return re.compile(rf"(?<!\w){name}(?!\w)|\bheddle_(?:\w+_)?{name}\b|\bHEDDLE_(?:\w+_)?{name.upper()}(?:_|\b)")


def is_bound(file):
    """Whether the rule is for `file`. Tests name what they test."""
    test = file.endswith("_test.cpp") or "/test_" in file
    return file != REGISTRY and file not in BUILD_LISTS and not test and not file.startswith(MEASURED)


def is_of_the_build(path):
    return path.suffix == ".cmake" or path.name == "CMakeLists.txt"


def files(root):
    if (root / "CMakeLists.txt").exists():
        yield root / "CMakeLists.txt"
    for top in ("include", "src", "tools", "examples", "cmake", "python", "fortran"):
        yield from sorted((root / top).rglob("*"))


def complaints(root):
    """Yields "file:line: reason" for each line that names a backend which is none of its business."""
    names = backends(root)
    in_code, in_build = {n: naming(n) for n in names}, {n: naming_in_cmake(n) for n in names}
    for path in files(root):
        file, build = path.relative_to(root).as_posix(), is_of_the_build(path)
        if not (build or path.suffix in (".h", ".cpp")) or not is_bound(file):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = line.split("#" if build else "//")[0]
            for name, pattern in (in_build if build else in_code).items():
                if not file.startswith(f"src/backends/{name}/") and pattern.search(code):
                    yield f"{file}:{number}: names the backend {name}"


if __name__ == "__main__":
    complaining.run(complaints)
