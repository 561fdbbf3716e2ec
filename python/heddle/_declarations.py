# SPDX-License-Identifier: BSD-3-Clause
"""The declarations of heddle/c.h as cffi reads them: without preprocessor, comments and functions that
the header defines itself.

  _declarations.py OUTPUT C_H...      writes them, when Heddle is built
"""
import re
import sys


def declarations(header):
    """`header`: the text of c.h, or of a part of it."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    text = re.sub(r"^[ \t]*#.*$", "", text, flags=re.M)
    text = re.sub(r'extern "C" \{', "", text)
    text = re.sub(r"^static inline [^{]*\{(?:[^\n]*\}$|.*?^\}$)", "", text, flags=re.M | re.S)
    text = re.sub(r"^\}\s*\Z", "", text.strip(), flags=re.M)  # of extern "C"
    return re.sub(r"\n\s*\n+", "\n", text).strip() + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        for path in sys.argv[2:]:
            with open(path, encoding="utf-8") as header:
                out.write(declarations(header.read()))
