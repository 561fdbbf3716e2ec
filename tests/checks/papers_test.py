# SPDX-License-Identifier: BSD-3-Clause
"""The papers that go with a release say the same as the tree: licence, notices, citation, security."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What a report could carry: anything that a browser or a page needs.
CARRIED = {".css", ".html", ".js", ".mjs", ".svg", ".ttf", ".wasm", ".woff", ".woff2"}


def text(name):
    return (ROOT / name).read_text()


class Papers(unittest.TestCase):
    def test_the_licence_is_the_bsd_one_with_three_clauses_of_the_heddle_authors(self):
        self.assertRegex(text("LICENSE"), r"\ABSD 3-Clause License\n\nCopyright \(c\) \d{4}, The Heddle authors\n")
        for clause in "1. Redistributions of source", "2. Redistributions in binary", "3. Neither the name":
            self.assertIn(clause, text("LICENSE"))

    def test_the_citation_names_the_version_and_licence_of_the_project(self):
        version = re.search(r'HEDDLE_VERSION_STRING "([\d.]+)"', text("include/heddle/version.h"))[1]
        self.assertIn(f"\nversion: {version}\n", text("CITATION.cff"))
        self.assertIn("\nlicense: BSD-3-Clause\n", text("CITATION.cff"))
        self.assertRegex(text("CITATION.cff"), r"(?m)^authors:\n  - name: The Heddle authors$")

    def test_every_file_that_a_report_could_inline_has_a_row_among_the_notices(self):
        notices = text("THIRD_PARTY.md")
        unnamed = [file.relative_to(ROOT).as_posix() for file in sorted((ROOT / "tools").rglob("*"))
                   if file.suffix in CARRIED and f"`{file.name}`" not in notices]
        self.assertEqual(unnamed, [])

    def test_each_library_that_is_built_with_has_a_row_among_the_notices(self):
        listed = re.findall(r"^(lib(?:fmt|cli11|sodium|hwloc|hdf5)-dev|nlohmann-json3-dev)\b",
                            text("packages.txt"), re.MULTILINE)
        self.assertTrue(listed)
        names = {"libsodium-dev": "libsodium", "libhwloc-dev": "hwloc", "libhdf5-dev": "HDF5"}
        for package in listed:
            self.assertIn(f"| {names.get(package, package)} |", text("THIRD_PARTY.md"), package)

    def test_links_between_the_papers_lead_somewhere(self):
        for paper in "THIRD_PARTY.md", "SECURITY.md", "CONTRIBUTING.md":
            for link in re.findall(r"\]\(([^)#:]+)\)", text(paper)):
                self.assertTrue((ROOT / link).exists(), f"{paper} links to {link}")


if __name__ == "__main__":
    unittest.main()
