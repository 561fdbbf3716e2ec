#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when code outside a backend's folder names that backend: adding one is a folder, a line in
src/backends/CMakeLists.txt and a row in src/backends/registry.cpp, or a module and nothing else.
"""
import pathlib
import re
import sys

# Not a wire: it wraps any of them.
WRAPPERS = {"faults"}
REGISTRY = "src/backends/registry.cpp"
# Where it is measured what each wire costs, and what each is to be compared with.
MEASURED = ("tools/bench/", "bench/")


def backends(root):
    """The folders in src/backends that are wires."""
    folders = (root / "src" / "backends").glob("*/")
    return sorted(f.name for f in folders if f.is_dir() and f.name not in WRAPPERS)


def naming(name):
    """What code that knows the backend `name` says: its name as text, a setting, a file, a type."""
    return re.compile(rf'"{name}"|HEDDLE_{name.upper()}_|\bbackends/{name}/|\b{name}::|\b{name}_factory')


def is_bound(file):
    """Whether the rule is for `file`. Tests name what they test."""
    test = file.endswith("_test.cpp") or "/test_" in file
    return file != REGISTRY and not test and not file.startswith(MEASURED)


def complaints(root):
    """Yields "file:line: reason" for each line that names a backend which is none of its business."""
    patterns = {name: naming(name) for name in backends(root)}
    for top in ("include", "src", "tools", "examples"):
        for path in sorted((root / top).rglob("*")):
            file = path.relative_to(root).as_posix()
            if path.suffix not in (".h", ".cpp") or not is_bound(file):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                code = line.split("//")[0]
                for name, pattern in patterns.items():
                    if not file.startswith(f"src/backends/{name}/") and pattern.search(code):
                        yield f"{file}:{number}: names the backend {name}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = list(complaints(root))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
