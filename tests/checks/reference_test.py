#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The reference of the public headers: Doxygen has nothing to complain of, and every header, and every
function of C that the library exports, stands in it.
reference_test.py DOXYGEN DOXYFILE SOURCE
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    doxygen, doxyfile, source = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        elsewhere = f"\nOUTPUT_DIRECTORY={folder}\nGENERATE_TAGFILE={folder}/tags\n"
        ran = subprocess.run([doxygen, "-"], input=pathlib.Path(doxyfile).read_text() + elsewhere,
                             capture_output=True, text=True, cwd=folder)
        print(ran.stdout + ran.stderr)
        if ran.returncode != 0:
            return 1
        described = set(re.findall(r"<name>([^<]*)</name>", pathlib.Path(folder, "tags").read_text()))
    exports = pathlib.Path(source, "cmake/exports/public.txt").read_text()
    wanted = set(re.findall(r"^(heddle_\w+)", exports, re.MULTILINE))
    wanted |= {header.name for header in pathlib.Path(source, "include/heddle").glob("*.h")}
    missing = sorted(wanted - described)
    print(f"{len(wanted)} functions and headers, of which these are missing: {missing}")
    return 1 if missing or len(wanted) < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
