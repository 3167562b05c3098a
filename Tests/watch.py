"""Runs Swift Testing's tests: watch.py LOG COMMAND ...

All that they say goes to LOG, and to the console what fails and how it ended. A run that has come to a standstill, or makes
no end, is ended here: which tests were under way is told, and where each thread stands, so that nobody has to guess
from a machine that is gone.
"""
import collections
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

# The longest test takes half a minute, and each says that it begins.
LONGEST_SILENCE = 5 * 60
# Five times what a slow machine takes; under a sanitizer, with one test at a time, a run stays below it too.
LONGEST_RUN = 40 * 60

# Those that only wait for their turn count as begun too; of one that hangs, few others remain.
MOST_NAMES = 20

# Each message of Swift Testing begins with one.
SYMBOLS = ("◇", "✔", "✘", "➜", "↳", "⚠", "±")

NEWS = re.compile(r'^\S+\s+Test (".*"|\S+\(.*\)) (?:with \d+ test cases? )?(started|passed|failed|skipped)\b')


class Run:
    def __init__(self, log, command, folder):
        self.log = open(log, "w", encoding="utf-8")
        self.under_way = collections.Counter()
        self.in_start = False
        self.began = self.heard = time.monotonic()
        # The tests' servers are on this machine: no proxy leads there.
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        # A session of its own: its whole group can be ended, and only that.
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
            env=dict(environment, NO_COLOR="1", TMPDIR=folder),
        )

    def tell(self, text):
        self.log.write(text + "\n")
        print(text, flush=True)

    def hear(self, line):
        self.log.write(line + "\n")
        self.log.flush()
        news = NEWS.match(line)
        if news:
            self.under_way[news[1]] += 1 if news[2] == "started" else -1
        if line.startswith(SYMBOLS):
            is_quiet = line.startswith(("◇", "✔", "➜")) and not line.startswith("✔ Test run")
            # An argument of several lines ends where it says so, or where another thread's message begins.
            self.in_start = line.startswith("◇") and not line.endswith("started.")
        else:
            is_quiet = self.in_start
            self.in_start = self.in_start and not line.endswith("started.")
        if not is_quiet:
            print(line, flush=True)

    def follow(self):
        """To the end of the output. Whoever else holds the pipe, the end of the process is one too."""
        output, rest = self.process.stdout.fileno(), b""
        while True:
            if not select.select([output], [], [], 1)[0]:
                if self.process.poll() is not None:
                    break
                now = time.monotonic()
                if now - self.heard > LONGEST_SILENCE or now - self.began > LONGEST_RUN:
                    self.give_up()
                    break
                continue
            data = os.read(output, 1 << 16)
            if not data:
                break
            self.heard = time.monotonic()
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self.hear(line.decode(errors="replace"))
        if rest:
            self.hear(rest.decode(errors="replace"))
        return self.process.wait()

    def give_up(self):
        names = sorted(name for name, count in self.under_way.items() if count > 0)
        self.tell(f"watch: no end after {time.monotonic() - self.began:.0f} s; {len(names)} tests under way or waiting:")
        for name in names[:MOST_NAMES]:
            self.tell(f"  {name}")
        try:
            stacks = subprocess.run(
                f"eu-stack -p {self.process.pid} | swift demangle --simplified",
                shell=True, capture_output=True, text=True, timeout=120,
            )
            self.tell(stacks.stdout + stacks.stderr)
        except subprocess.TimeoutExpired:
            self.tell("watch: eu-stack makes no end either")
        self.end()

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


# What the tests leave in their temporary folder goes with it, also after a run that was ended.
with tempfile.TemporaryDirectory(prefix="uncurl-") as folder:
    # As /tmp is: squid reads its files there as a user of its own.
    os.chmod(folder, 0o1777)
    run = Run(sys.argv[1], sys.argv[2:], folder)
    try:
        status = run.follow()
    finally:
        run.end()
sys.exit(0 if status == 0 else 1)
