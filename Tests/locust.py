#!/usr/bin/env python3
"""Drives a real Locust master, with volley as its workers, through one scenario; prints what came of it as JSON.

locust.py SCENARIO VOLLEY URL [SECONDS]: run by LocustWorkerTests with the Python that ./dev test makes.
"""
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

# The one that the documentation gives its readers.
DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Sources/volley/SWARMS.md")
LOCUSTFILE = re.search(r"```python\n(.*?)```", open(DOCUMENT).read(), re.S).group(1)
PATIENCE = int(os.environ.get("PATIENCE", "60"))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(OSError, KeyError, ValueError):
            if value := condition():
                return value
        time.sleep(0.05)
    raise SystemExit(f"locust.py: waited in vain for {what}")


class Master:
    """A master on ports of its own; with a web page unless it is headless."""

    def __init__(self, stack, *arguments, port=None, web=True):
        self.port, self.web = port or free_port(), free_port() if web else None
        self.folder = stack.enter_context(tempfile.TemporaryDirectory())
        path = os.path.join(self.folder, "locustfile.py")
        with open(path, "w") as f:
            f.write(LOCUSTFILE)
        self.out, self.err = (open(os.path.join(self.folder, name), "w+") for name in ("out", "err"))
        command = [sys.executable, "-m", "locust", "-f", path, "--master", "--master-bind-host", "127.0.0.1",
                   "--master-bind-port", str(self.port), *arguments]
        if web:
            command += ["--web-host", "127.0.0.1", "--web-port", str(self.web)]
        self.process = subprocess.Popen(command, stdout=self.out, stderr=self.err, cwd=self.folder)
        stack.callback(self.stop)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.web}{path}", timeout=10) as answer:
            return json.load(answer)

    def post(self, path, **form):
        data = urllib.parse.urlencode(form).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.web}{path}", data, timeout=10) as answer:
            return answer.read()

    def workers(self, *states):
        found = self.get("/stats/requests").get("workers", [])
        return [worker for worker in found if worker["state"] in states]

    def total(self):
        return next((e["num_requests"] for e in self.get("/stats/requests")["stats"] if e["name"] == "Aggregated"), 0)

    def names(self):
        return [e["name"] for e in self.get("/stats/requests")["stats"] if e["name"] != "Aggregated"]

    def log(self):
        self.err.flush()
        with open(self.err.name) as f:
            return f.read()


def worker(stack, volley, master, *arguments):
    log = tempfile.TemporaryFile("w+")
    process = subprocess.Popen([volley, "worker", "--master", f"127.0.0.1:{master.port}", "-t1", "-T", "60s", *arguments],
                               stdout=subprocess.DEVNULL, stderr=log)
    process.log = log

    def end():
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()

    stack.callback(end)
    return process


def said(process):
    process.log.seek(0)
    return process.log.read()


def headless(stack, volley, url, workers, *arguments, crew=()):
    master = Master(stack, "--headless", "--expect-workers", str(workers), "--json", "--only-summary", *arguments, web=False)
    crew = [worker(stack, volley, master, *crew) for _ in range(workers)]
    status = master.process.wait(timeout=PATIENCE)
    entries = json.load(open(master.out.name))
    return {
        "status": status,
        "requests": sum(e["num_requests"] for e in entries),
        "failures": sum(e["num_failures"] for e in entries),
        "names": [f"{e['method']} {e['name']}" for e in entries],
        "fractions": any(not float(k).is_integer() for e in entries for k in e["response_times"]),
        "workers": [process.wait(timeout=PATIENCE) for process in crew],
        "spawned": "All users spawned" in master.log(),
        # That a worker is busy says something of the machine.
        "warnings": [line for line in master.log().splitlines() if "/WARNING/" in line and "CPU" not in line.upper()],
        "errors": [line for line in master.log().splitlines() if "/ERROR/" in line],
    }


def ramp(stack, volley, url):
    """Two workers, a ramp of users, the end by time."""
    return headless(stack, volley, url, 2, "-u", "12", "-r", "6", "-t", "4s", "--target-url", url)


def rate(stack, volley, url):
    """The rate of all workers together, as an argument of the locustfile."""
    return headless(stack, volley, url, 2, "-u", "8", "-r", "8", "-t", "5s", "--target-url", url, "--target-rate", "200")


def inputs(stack, volley, urls):
    """A worker of two threads and three users, with a list of requests; `urls` has them, divided by commas."""
    path = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "urls")
    with open(path, "w") as f:
        f.write(urls.replace(",", "\n") + "\n")
    return headless(stack, volley, urls, 1, "-u", "3", "-r", "3", "-t", "2s", crew=("-t2", "--input", f"urls={path}"))


def failing(stack, volley, url):
    """A URL that answers 503: Locust's own verdict is 1."""
    return headless(stack, volley, url, 1, "-u", "2", "-r", "2", "-t", "2s", "--target-url", url)


def restart(stack, volley, url):
    """Started, stopped and started again from the web page, with other users, and then at a rate."""
    master = Master(stack)
    process = worker(stack, volley, master, url)
    wait_for(lambda: master.workers("ready"), "a worker")
    totals = []
    for users, rate in ((4, ""), (2, ""), (2, "100")):
        master.post("/swarm", user_count=users, spawn_rate=users, host="", target_url="", target_rate=rate)
        wait_for(lambda: master.get("/stats/requests")["state"] == "running" and master.total() > 50, "requests")
        master.post("/stop")
        wait_for(lambda: master.get("/stats/requests")["state"] == "stopped" and master.workers("ready"), "the stop")
        totals.append(master.total())
    master.stop()
    return {"totals": totals, "alive": process.poll() is None, "said": said(process)}


def streams(stack, volley, url):
    """Started and stopped from the web page, with streams that do not end."""

    def connections():
        return sum(w["user_count"] for w in master.workers("running"))

    master = Master(stack)
    process = worker(stack, volley, master, "--stream", "sse", "-T", "1h", url)
    wait_for(lambda: master.workers("ready"), "a worker")
    master.post("/swarm", user_count=2, spawn_rate=2, host="")
    wait_for(lambda: connections() == 2, "the users")
    master.post("/stop")
    wait_for(lambda: master.get("/stats/requests")["state"] == "stopped" and master.workers("ready"), "the stop")
    return {"alive": process.poll() is None}


def growth(stack, volley, url):
    """A running test gets more users from the page, with a rate and without; they are connections."""

    def connections():
        path = "/proc/net/tcp"
        port = f"{urllib.parse.urlsplit(url).port:04X}"
        rows = [row.split() for row in open(path).readlines()[1:]]
        return sum(row[2].endswith(":" + port) and row[3] == "01" for row in rows)

    master = Master(stack)
    process = worker(stack, volley, master, "-t2", url)
    wait_for(lambda: master.workers("ready"), "a worker")
    most = []
    for rate in ("", "1000"):
        for users in (2, 7):
            master.post("/swarm", user_count=users, spawn_rate=users, host="", target_url="", target_rate=rate)
            wait_for(lambda: master.workers("running") and connections() == users, f"{users} connections, rate {rate or 'none'}")
            most.append(connections())
        master.post("/stop")
        wait_for(lambda: master.get("/stats/requests")["state"] == "stopped" and master.workers("ready"), "the stop")
    return {"connections": most, "alive": process.poll() is None}


def killed(stack, volley, url):
    """Of two workers one is killed: it goes missing, and the other takes its users."""
    master = Master(stack, "--enable-rebalancing")
    crew = [worker(stack, volley, master, url) for _ in range(2)]
    wait_for(lambda: len(master.workers("ready")) == 2, "two workers")
    master.post("/swarm", user_count=4, spawn_rate=4, host="")
    wait_for(lambda: len(master.workers("running")) == 2 and master.total() > 0, "requests of two")
    crew[0].send_signal(signal.SIGKILL)
    wait_for(lambda: master.workers("missing"), "the missing one")
    users = wait_for(lambda: [w["user_count"] for w in master.workers("running") if w["user_count"] == 4], "its users")
    before = master.total()
    wait_for(lambda: master.total() > before, "requests after")
    master.post("/stop")
    wait_for(lambda: master.get("/stats/requests")["state"] == "stopped", "the stop")
    return {"users": users, "alive": crew[1].poll() is None}


def reconnect(stack, volley, url):
    """The master ends without a word, and comes back."""
    first = Master(stack)
    process = worker(stack, volley, first, url)
    wait_for(lambda: first.workers("ready"), "a worker")
    first.process.kill()
    first.process.wait()
    second = Master(stack, port=first.port)
    wait_for(lambda: second.workers("ready"), "the worker again")
    second.post("/swarm", user_count=2, spawn_rate=2, host="")
    wait_for(lambda: second.total() > 0, "requests")
    second.post("/stop")
    wait_for(lambda: second.workers("ready"), "the stop")
    return {"total": second.total(), "alive": process.poll() is None, "said": said(process)}


def orphan(stack, volley, url):
    """The master ends without a word in the middle of a test: with --orphan stop the load does, too."""

    def count():
        """Requests so far, this one too."""
        return int(urllib.request.urlopen(re.sub("/bytes.*", "/count", url), timeout=10).read())

    master = Master(stack)
    process = worker(stack, volley, master, url, "--orphan", "stop")
    wait_for(lambda: master.workers("ready"), "a worker")
    master.post("/swarm", user_count=2, spawn_rate=2, host="")
    wait_for(lambda: master.total() > 0, "requests")
    master.process.kill()
    master.process.wait()
    wait_for(lambda: "the load has stopped" in said(process), "the end of the load")
    looks = [count() for _ in range(200)]
    again = Master(stack, port=master.port)
    wait_for(lambda: again.workers("ready"), "the worker again")
    return {"asked": looks[-1] - looks[0], "looks": len(looks) - 1, "alive": process.poll() is None}


def comeback(stack, volley, url):
    """A test's master ends without a word; the next one knows nothing of the test, and begins one of another URL."""
    master = Master(stack)
    process = worker(stack, volley, master, url)
    wait_for(lambda: master.workers("ready"), "a worker")
    master.post("/swarm", user_count=2, spawn_rate=2, host="")
    wait_for(lambda: master.total() > 0, "requests")
    master.process.kill()
    master.process.wait()
    again = Master(stack, port=master.port)
    wait_for(lambda: again.workers("ready"), "the worker again")
    wait_for(lambda: "has no test" in said(process), "the end of the load")
    again.post("/swarm", user_count=2, spawn_rate=2, host="", target_url=url.replace("128", "1"))
    wait_for(lambda: again.total() > 0, "requests of the next test")
    again.post("/swarm", user_count=2, spawn_rate=2, host="", target_url=url.replace("128", "2"))
    wait_for(lambda: len(again.names()) > 1, "requests of another URL")
    again.post("/stop")
    wait_for(lambda: again.workers("ready"), "the stop")
    return {"names": sorted(again.names()), "alive": process.poll() is None}


def host(stack, volley, url):
    """Neither the worker nor the locustfile names a URL: the master's --host is it; nor that: the page says so."""
    master = Master(stack)
    process = worker(stack, volley, master)
    wait_for(lambda: master.workers("ready"), "a worker")
    master.post("/swarm", user_count=1, spawn_rate=1, host="")
    message = wait_for(lambda: [e["msg"] for e in master.get("/exceptions")["exceptions"]], "the exception")
    master.post("/stop")
    wait_for(lambda: master.workers("ready"), "the stop")
    master.post("/swarm", user_count=1, spawn_rate=1, host=url)
    wait_for(lambda: master.total() > 0, "requests")
    master.post("/stop")
    return {"message": message[0], "alive": process.poll() is None}


def main():
    scenario, volley, url = sys.argv[1:4]
    with contextlib.ExitStack() as stack:
        print(json.dumps(globals()[scenario](stack, volley, url)))


if __name__ == "__main__":
    main()
