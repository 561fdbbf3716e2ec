# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m heddle_results RESULTS FILE.pdf: what `heddle report RESULTS -o FILE.pdf` runs."""
import sys

from . import UnreadableError, read


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: python3 -m heddle_results RESULTS FILE.pdf")
    try:
        from . import pdf
    except ImportError as why:
        sys.exit(f"heddle report: a PDF needs matplotlib for Python ({why}); on Debian: apt install python3-matplotlib")
    try:
        pdf.write(read(sys.argv[1]), sys.argv[2])
    except (UnreadableError, OSError) as why:
        sys.exit(f"heddle report: {why}")
    print(sys.argv[2])


main()
