# SPDX-License-Identifier: BSD-3-Clause
"""What heddle linktest finds in a real job is in each of its files, as readers of their own find it.

    linktest_findings_test.py HEDDLE
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

RULES = """# As an operator keeps them.
time<=1e-12          # nobody is so fast
semi/time<=1e-12     # another section's
uni-send/time<=100
"""
QUICK = ["--mode", "serial", "--kernel", "uni", "--sizes", "8", "--messages", "10", "--warmup", "2", "--repetitions",
         "6", "--singles", "0", "--slow", "20", "--quiet"]
FORMATS = ["--formats", "h5,json,summary.json,jsonl,prom,junit.xml,drain.txt"]


def heddle(*words):
    return subprocess.run([HEDDLE, *map(str, words)], capture_output=True, text=True, timeout=200)


def samples_of(text):
    """Prometheus' text format, by its grammar: {(name, labels): value}. Raises at what is not in it."""
    found, described = {}, set()
    for line in text.splitlines():
        if line.startswith("#"):
            described.add(re.fullmatch(r"# (?:HELP (\w+) .*|TYPE (\w+) gauge)", line)[1 if "HELP" in line else 2])
            continue
        name, inside, value = re.fullmatch(r"([a-zA-Z_:][\w:]*)\{(.*)\} (\S+)", line).groups()
        labels = re.findall(r'(\w+)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)', inside)
        if ",".join(f'{k}="{v}"' for k, v in labels) != inside or name not in described:
            raise ValueError(line)
        key = name, tuple(sorted(labels))
        if key in found:
            raise ValueError(f"twice: {line}")
        found[key] = float(value)
    return found


def python_with(*modules):
    for python in sys.executable, "/usr/bin/python3":
        if not subprocess.run([python, "-c", "import " + ", ".join(modules)], capture_output=True).returncode:
            return python
    return None


class Findings(unittest.TestCase):
    """Of a job on four pretended hosts, of which h2 is late with all, that also misses a rule."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.here = cls.root / "late"
        (cls.root / "rules").write_text(RULES)
        made = heddle("run", "-n", 4, "--env", "HEDDLE_FAULTS=late=2:20000", "--", "sh", "-c",
                      'HEDDLE_HOST=h$HEDDLE_RANK exec "$0" linktest "$@"', HEDDLE, *QUICK, *FORMATS,
                      "--diagnosis", "always", "--expect", f"@{cls.root}/rules", "--output", cls.here)
        assert made.returncode == 5, made.stdout + made.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check_document(self, found):
        self.assertEqual(found["exit_status"], 5)
        self.assertEqual(found["options"]["expect"], ["time<=1e-12", "time<=100"])
        self.assertEqual([(one["rule"], one["bytes"], one["pairs"], one["of"]) for one in found["missed_rules"]],
                         [("time<=1e-12", 8, 12, 12)])
        slow = [one for one in found["diagnosis"]["verdicts"] if one["what"] != "contention"]
        self.assertEqual([(one["what"], one["node"]) for one in slow], [("node", 2)])

    def test_json_has_verdicts_missed_rules_and_the_exit_status(self):
        for name in "linktest.json", "linktest.summary.json":
            self.check_document(json.loads((self.here / name).read_text()))
        self.check_document(json.loads((self.here / "linktest.jsonl").read_text().splitlines()[0]))

    def test_hdf5_has_them_as_columns(self):
        python = python_with("h5py")
        if not python:
            self.skipTest("python3-h5py is not installed")
        script = """
import sys, h5py
with h5py.File(sys.argv[1]) as f:
    assert f.attrs["exit_status"] == 5 and f.attrs["diagnosed"] == 1
    verdicts, missed = f["verdicts"], f["missed_rules"]
    assert verdicts["what"].asstr()[0] == "node" and verdicts["node"][0] == 2
    assert verdicts["host"].asstr()[0] == "h2" and verdicts["factor"][0] > 20 and verdicts["evidence"].asstr()[0]
    assert list(missed["rule"].asstr()[...]) == ["time<=1e-12"] and list(missed["bytes"][...]) == [8]
    assert list(missed["pairs"][...]) == list(missed["of"][...]) == [12] and missed["wanted"][0] == 1e-12
"""
        done = subprocess.run([python, "-c", script, self.here / "linktest.h5"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_prometheus_has_them_as_samples(self):
        samples = samples_of((self.here / "linktest.prom").read_text())

        def value(name, **labels):
            have = [v for (n, all_labels), v in samples.items()
                    if n == "heddle_linktest_" + name and labels.items() <= dict(all_labels).items()]
            self.assertEqual(len(have), 1, name)
            return have[0]
        self.assertEqual(value("exit_status"), 5)
        self.assertEqual(value("diagnosed"), 1)
        self.assertEqual(value("verdicts", what="node"), 1)
        self.assertEqual(value("verdicts", what="node_rx"), 0)
        self.assertGreater(value("slow_factor", host="h2", rank="2", what="node"), 20)
        self.assertEqual(value("rules"), 2)
        self.assertEqual(value("missed_rules"), 1)
        self.assertEqual(value("missed_pairs", rule="time<=1e-12", bytes="8"), 12)

    def test_junit_has_them_as_cases(self):
        self.check_cases(self.here / "linktest.junit.xml")

    def check_cases(self, path):
        suite = xml.etree.ElementTree.parse(path).getroot().find("testsuite")
        cases = {case.get("name"): case for case in suite.iter("testcase")}
        failed = {name for name, case in cases.items() if case.find("failure") is not None}
        self.assertEqual(set(cases), failed | {"every pair is measured", "data arrives as it was sent",
                                               "time<=100 at 8 B"})
        self.assertEqual(failed, {"no node, rail or link is slow", "time<=1e-12 at 8 B"})
        self.assertIn("node: rank 2 (h2): ", cases["no node, rail or link is slow"].find("failure").text)
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("skipped")), ("5", "2", "0"))

    def test_the_drain_list_has_the_late_host_on_its_line(self):
        self.assertEqual((self.here / "linktest.drain.txt").read_text(), "h2\n")

    def test_reports_make_the_same_of_results_that_were_kept(self):
        for name in "linktest.h5", "linktest.json":
            for ending in "prom", "junit.xml", "drain.txt", "summary.json":
                made = heddle("report", self.here / name, "-o", self.root / f"again.{ending}")
                self.assertEqual(made.returncode, 0, made.stderr)
            self.check_cases(self.root / "again.junit.xml")
            self.check_document(json.loads((self.root / "again.summary.json").read_text()))
            for ending in "prom", "drain.txt":
                self.assertEqual((self.root / f"again.{ending}").read_text(),
                                 (self.here / f"linktest.{ending}").read_text())

    def test_a_baseline_of_another_job_is_told_as_a_missed_rule(self):
        made = heddle("linktest", "-n", 2, *QUICK, "--diagnosis", "never", "--baseline", self.here, "--expect",
                      "time<=1", "--formats", "json,junit.xml,drain.txt", "--output", self.root / "two")
        self.assertEqual(made.returncode, 6, made.stderr)
        found = json.loads((self.root / "two/linktest.json").read_text())
        self.assertEqual(found["exit_status"], 6)
        self.assertIn("it has 4 ranks and this run 2", found["missed_rules"][0]["rule"])
        suite = xml.etree.ElementTree.parse(self.root / "two/linktest.junit.xml").getroot().find("testsuite")
        states = {case.get("name"): [child.tag for child in case] for case in suite.iter("testcase")}
        self.assertEqual(states["comparable with the baseline"], ["failure"])
        self.assertEqual(states["time<=1 at 8 B"], ["skipped"])
        self.assertEqual((self.root / "two/linktest.drain.txt").read_text(), "")


if __name__ == "__main__":
    HEDDLE = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
