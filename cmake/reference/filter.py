#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What Doxygen reads of a public header: filter.py HEADER.

Our comments need no marks for people; Doxygen wants them. The comment at a header's top becomes the
header's own description; a section (// --- title ---, and the comment below it) a group of members.
In C headers, where there is no ///, a comment in front of a declaration or behind it becomes its
description. Each line stays the line it was, so warnings name the right one.
"""
import re
import sys

SECTION = re.compile(r"\s*(?://|/\*) --- (.*)")
BELOW_SECTION = re.compile(r"\s*//(?!/) ?(.*)|\s*\*/()")


def plain(text):
    """A section's text without its dashes and the end of a C comment."""
    return re.sub(r"-{3,}|\*/", "", text).strip()


def grouped(lines):
    """A section lasts until the next one, or the end of the class, namespace or C header."""
    made, i, is_open = [], 0, False
    while i < len(lines):
        section = SECTION.match(lines[i])
        if section:
            text = [("/** @} */ " if is_open else "") + "/** @name " + plain(section[1])]
            while below := BELOW_SECTION.match(lines[i + 1]):
                text.append(plain(below[1] or ""))
                i += 1
            text[-1] += " */ /** @{ */"
            made += text
            is_open = True
        elif is_open and re.match(r"\};|\}  // namespace", lines[i]):
            made.append("/** @} */ " + lines[i])
            is_open = False
        else:
            made.append(lines[i])
        i += 1
    return made + (["/** @} */"] if is_open else [])


def filtered_cpp(lines):
    end = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    title = re.sub(r"^// \S+ - ", "", lines[1])
    made = ["/// @file", f"/// {title}"] + ["/" + line for line in lines[2:end]]
    for line in lines[end:]:
        if "friend detail::" in line:  # of what is not shown
            line = ""
        made.append(line.replace("#", "\\#") if "// " in line else line)  # else it is a link
    return grouped(made)


def filtered_c(lines):
    made = []
    for line in lines:
        if SECTION.match(line):
            made.append(line)
            continue
        if "SPDX" in line or "NOLINT" in line:
            line = ""
        line = re.sub(r"^/\* (\S+\.h) - ", r"/** @file \1 @brief ", line)
        line = re.sub(r"^(\s*)/\* ", r"\1/** ", line)
        made.append(re.sub(r"(\S\s+)/\* ", r"\1/**< ", line))
    return grouped(made)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = file.read().splitlines()
    print("\n".join(filtered_c(lines) if lines[0].startswith("/*") else filtered_cpp(lines)))


if __name__ == "__main__":
    main()
