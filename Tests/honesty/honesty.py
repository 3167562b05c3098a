"""What the honesty checks share: the programs under test, a run's report, and how a check says what it measured."""

import json
import pathlib
import subprocess
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Check:
    """One row of the table. `run(bench)` returns what was measured, as text, and raises Missed with it where it is not within the margin."""

    def __init__(self, number, title, margin, run):
        self.number, self.title, self.margin, self.run = number, title, margin, run


class Missed(Exception):
    pass


def within(ok, measured):
    if not ok:
        raise Missed(measured)
    return measured


def check(number, title, margin):
    """Makes a check of a function; its module's CHECKS has it."""

    def made(function):
        module = function.__globals__
        module.setdefault("CHECKS", []).append(Check(number, title, margin, function))
        return function

    return made


class Bench:
    """The built programs, and a server on this machine."""

    def __init__(self, binaries):
        self.volley = str(binaries / "volley")
        self.httpbin = str(binaries / "httpbin")

    def server(self, loops=1):
        return Server(self.httpbin, loops)

    def report(self, *arguments, allowed=(0,)):
        """The JSON report of a run; `status` has its exit status."""
        ended = subprocess.run([self.volley, "--format", "json", "--no-progress", *map(str, arguments)], capture_output=True, text=True)
        if ended.returncode not in allowed:
            raise Missed(f"volley ended with {ended.returncode}: {ended.stderr.strip() or limits(ended.stdout)}")
        report = json.loads(ended.stdout)
        report["status"] = ended.returncode
        return report


def limits(text):
    try:
        report = json.loads(text)
        return "; ".join((report.get("schedule") or {}).get("generator_limits", []) + report["notes"]) or "no word why"
    except ValueError:
        return text[-200:]


class Server:
    """httpbin on a port of its own choosing."""

    def __init__(self, program, loops):
        self.process = subprocess.Popen([program, "--port", "0", "--loops", str(loops)], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip().rstrip("/")
        if not self.url.startswith("http"):
            raise Missed(f"httpbin did not start: {self.url}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def count(self):
        """Requests so far, this one not counted."""
        return int(urllib.request.urlopen(self.url + "/count").read()) - 1


def seconds(histogram, percentile):
    value = histogram["percentiles"].get(percentile, histogram.get(percentile))
    return value / 1e9


def listing(lines):
    """A file of --input urls, and its name."""
    file = tempfile.NamedTemporaryFile("w", suffix=".urls", delete=False)
    file.write("".join(line + "\n" for line in lines))
    file.close()
    return file.name
