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


class Rails(unittest.TestCase):
    """Of a job over two rails of tcp, each alone, of which rank 2 is late with all over the second."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.made = heddle("run", "-n", 4, "--env", "HEDDLE_TCP_IFACE=127.0.0.1,127.0.0.2", "--env",
                          "HEDDLE_FAULTS=late=2/1:6000", "--", HEDDLE, "linktest", *QUICK,
                          "--layers", "tcp.rail0-1", *FORMATS[:1], FORMATS[1] + ",csv", "--diagnosis", "always",
                          "--expect", "tcp.rail0/time<=10", "--output", cls.root / "all")
        cls.slow = cls.root / "all/uni-send-tcp.rail1"

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_screen_names_the_rail_and_the_one_that_is_not_slow(self):
        self.assertEqual(self.made.returncode, 5, self.made.stdout + self.made.stderr)
        words = self.made.stdout[self.made.stdout.index("\nRails 0, 1 of tcp\n"):]
        self.assertRegex(words, r"\nrail: rank 2 \(.*\), rail 1: [0-9.]+ times as slow as usual")
        self.assertIn("Over rail 0 it is not slow.", words)

    def test_the_list_of_sections_has_what_the_screen_says(self):
        listed = json.loads((self.root / "all/linktest.sections.json").read_text())["sections"]
        self.assertEqual([(one["backend"], one["status"], "comparison" in one) for one in listed],
                         [("tcp.rail0", 0, False), ("tcp.rail1", 5, True)])
        found = listed[1]["comparison"]
        self.assertEqual([one["name"] for one in found["layers"]], ["tcp.rail0", "tcp.rail1"])
        self.assertEqual([(one["what"], one["node"], one["rail"]) for one in found["wires"][0]["verdicts"]],
                         [("rail", 2, 1)])
        self.assertIn(found["words"], self.made.stdout)
        self.assertEqual(json.loads((self.slow / "linktest.json").read_text())["layers"], found["words"])

    def test_each_file_of_a_rail_names_it_and_a_verdict_is_on_it(self):
        document = json.loads((self.slow / "linktest.json").read_text())
        self.assertEqual((document["options"]["backend"], document["routes"]), ("tcp.rail1", ["tcp.rail1"]))
        verdict = document["diagnosis"]["verdicts"][0]
        self.assertEqual((verdict["what"], verdict["node"], verdict["rail"]), ("node", 2, 1))
        self.assertTrue((self.slow / "linktest.csv").read_text().splitlines()[1].startswith("uni,send,tcp.rail1,serial,"))
        slow = [dict(labels) for (name, labels) in samples_of((self.slow / "linktest.prom").read_text())
                if name == "heddle_linktest_slow_factor"]
        self.assertEqual([(one["backend"], one["rank"], one["rail"]) for one in slow if one["what"] == "node"],
                         [("tcp.rail1", "2", "1")])
        suite = xml.etree.ElementTree.parse(self.slow / "linktest.junit.xml").getroot().find("testsuite")
        self.assertIn("uni-send-tcp.rail1-serial", suite.get("name"))
        self.assertIn(", rail 1: ", next(suite.iter("failure")).text)

    def test_reports_of_it_say_the_same(self):
        made = heddle("report", self.slow / "linktest.h5", "-o", self.root / "again.json")
        self.assertEqual(made.returncode, 0, made.stderr)
        before = json.loads((self.slow / "linktest.json").read_text())
        self.assertEqual(json.loads((self.root / "again.json").read_text())["diagnosis"], before["diagnosis"])

    def test_a_baseline_without_a_section_for_each_layer_is_refused_before_anything_is_measured(self):
        made = heddle("linktest", "-n", 4, *QUICK, "--layers", "tcp.rail0,shm", "--baseline", self.root / "all",
                      "--output", self.root / "other")
        self.assertEqual(made.returncode, 2, made.stdout + made.stderr)
        self.assertIn("that run has no section uni-send-shm, but uni-send-tcp.rail0, uni-send-tcp.rail1: give",
                      made.stderr)
        self.assertNotIn("===", made.stdout)

    def test_a_baseline_of_another_layer_is_not_comparable_and_the_cure_is_told(self):
        made = heddle("linktest", "-n", 4, *QUICK, "--layers", "shm", "--diagnosis", "never", "--baseline", self.slow,
                      "--output", self.root / "another")
        self.assertEqual(made.returncode, 6, made.stdout + made.stderr)
        self.assertIn("measured over tcp.rail1, and this run over shm: give --layers tcp.rail1", made.stdout)


if __name__ == "__main__":
    HEDDLE = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
