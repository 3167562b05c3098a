#!/usr/bin/env python3
"""One worker under a Locust master: volley against Locust's own, on the same machine, nginx and users.

./dev bench locust [SECONDS]. Requests a second by the master's count, which is held against the server's.
"""
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request

import peers

USERS = 64
PAIRS = 3
SERVER_CORE, CLIENT_CORE = 1, 0

NGINX = """
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  server {{
    listen 127.0.0.1:{port};
    location = /status {{ stub_status; }}
    location / {{ return 200 "Hello, World!"; }}
  }}
}}
"""

OURS = """
from locust import User, constant
class Volley(User):
    wait_time = constant(1)
"""
# Locust's usual client, on python-requests, and its faster one, on geventhttpclient.
THEIRS = """
from locust import {user}, task
class Theirs({user}):
    @task
    def get(self):
        self.client.get("/")
"""
USERS_OF_THEIRS = ("HttpUser", "FastHttpUser")


@contextlib.contextmanager
def server():
    with tempfile.TemporaryDirectory() as folder:
        port = peers.free_port()
        path = os.path.join(folder, "nginx.conf")
        with open(path, "w") as f:
            f.write(NGINX.format(folder=folder, port=port))
        process = subprocess.Popen([*peers.pinned(SERVER_CORE), "nginx", "-c", path, "-p", folder, "-g", "daemon off;"])
        try:
            peers.wait_for(port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def count(base):
    """Requests that the server has answered, without those for this."""
    count.asked += 1
    text = urllib.request.urlopen(base + "/status").read().decode()
    return int(re.search(r"\n\s*\d+\s+\d+\s+(\d+)", text).group(1)) - count.asked


count.asked = 0


def test(locustfile, worker, base, seconds):
    """Requests by the master's count and by the server's, with the worker given."""
    before = count(base)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "locustfile.py")
        with open(path, "w") as f:
            f.write(locustfile)
        port = str(peers.free_port())
        master = subprocess.Popen(
            [sys.executable, "-m", "locust", "-f", path, "--master", "--master-bind-host", "127.0.0.1",
             "--master-bind-port", port, "--headless", "--expect-workers", "1", "-u", str(USERS), "-r", str(USERS),
             "-t", f"{seconds}s", "--stop-timeout", "5", "--json", "--only-summary", "--host", base],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        crew = subprocess.Popen([*peers.pinned(CLIENT_CORE), *worker(path, port)], stderr=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL)
        output = master.communicate(timeout=seconds + 120)[0]
        crew.wait(timeout=60)
    entries = json.loads(output)
    return sum(entry["num_requests"] for entry in entries), count(base) - before


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    volley = os.environ.get("VOLLEY") or peers.build("volley")
    ours = lambda path, port: [volley, "worker", "--master", f"127.0.0.1:{port}", "-t1", "-q"]
    theirs = lambda path, port: [sys.executable, "-m", "locust", "-f", path, "--worker", "--master-host", "127.0.0.1",
                                 "--master-port", port]
    print(f"# {peers.machine()}; worker on core {CLIENT_CORE}, nginx on core {SERVER_CORE}, {USERS} users, {seconds} s")
    ratios, wrong = {user: [] for user in USERS_OF_THEIRS}, 0
    workers = [(user, THEIRS.format(user=user), theirs) for user in USERS_OF_THEIRS] + [("volley", OURS, ours)]
    with server() as base:
        for pair in range(PAIRS):
            rates = {}
            for name, file, worker in workers:
                told, counted = test(file, worker, base, seconds)
                rates[name] = told / seconds
                wrong += name == "volley" and told != counted
                print(f"{pair + 1}  {name:<12} {told:>9} requests by the master, {counted:>9} by the server, "
                      f"{rates[name]:>9.0f}/s")
            for user in USERS_OF_THEIRS: ratios[user].append(rates["volley"] / rates[user])
    for user in USERS_OF_THEIRS:
        print(f"requests a second, volley's worker over Locust's with {user}, median of {PAIRS}: {peers.median(ratios[user]):.1f}")
    if wrong:
        sys.exit("the master's total is not the server's")


if __name__ == "__main__":
    main()
