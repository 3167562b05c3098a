#!/usr/bin/env python3
"""A background download, killed (kill -9) at random moments: its file must be whole and byte-identical every time.
./dev bench background [KILLS] [SEED]"""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import peers

SIZE = 48 << 20
# Bytes a second: a download then takes two seconds, and is killed some ten times.
RATE = "24m"
# Seconds a process lives at most before it is killed; starting takes some thirty milliseconds of them.
LONGEST = 0.35


def server(folder, content):
    """nginx with one file: ETag, ranges, If-Range; no faster than RATE, so that there are moments to hit."""
    port = peers.free_port()
    with open(os.path.join(folder, "file"), "wb") as file:
        file.write(content)
    config = os.path.join(folder, "nginx.conf")
    with open(config, "w") as file:
        file.write(f"""
            daemon off; error_log {folder}/error.log; pid {folder}/nginx.pid; worker_processes 1;
            events {{}}
            http {{ access_log {folder}/access.log; root {folder}; limit_rate {RATE};
                client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
                uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
                server {{ listen 127.0.0.1:{port}; }} }}""")
    process = subprocess.Popen([shutil.which("nginx") or "/usr/sbin/nginx", "-c", config, "-p", folder],
                               stderr=subprocess.DEVNULL)
    peers.wait_for(port)
    return process, f"http://127.0.0.1:{port}/file"


def main():
    kills_wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20261121
    chance = random.Random(seed)
    subprocess.run(["swift", "build", "--product", "OneRequest"], check=True, cwd=peers.ROOT,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    bin_path = subprocess.run(["swift", "build", "--show-bin-path"], check=True, cwd=peers.ROOT,
                              capture_output=True, text=True).stdout.strip()
    program = os.path.join(bin_path, "OneRequest")
    folder = tempfile.mkdtemp(prefix="uncurl-background-")
    os.chmod(folder, 0o755)
    content = chance.randbytes(SIZE)
    nginx, url = server(folder, content)
    environment = dict(os.environ, XDG_STATE_HOME=os.path.join(folder, "state"))
    kills = files = processes = wrong = 0
    moments = []
    try:
        # Each file takes some processes; a bound that no run reaches keeps a fault from running for ever.
        while kills < kills_wanted and processes < 40 * kills_wanted:
            destination = os.path.join(folder, f"result-{files}")
            # Killed within some time; and in the end, if nobody is killed any more, the download is finished in peace.
            while not os.path.exists(destination) and processes < 40 * kills_wanted:
                process = subprocess.Popen([program, "--background", f"file-{files}", url, destination], env=environment)
                processes += 1
                limit = chance.uniform(0, LONGEST) if kills < kills_wanted else 60
                try:
                    process.wait(limit)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    kills += 1
                    moments.append(limit)
            # Killed between the move and the record's end: the next process has nothing to do, and says so.
            last = subprocess.run([program, "--background", f"file-{files}", url, destination], env=environment, timeout=60)
            with open(destination, "rb") as file:
                if file.read() != content or last.returncode != 0:
                    wrong += 1
                    print(f"wrong: file {files}, seed {seed}", file=sys.stderr)
            os.remove(destination)
            files += 1
        resumed = sum(" 206 " in line for line in open(os.path.join(folder, "access.log")))
        left = [name for base, _, names in os.walk(os.path.join(folder, "state")) for name in names if name != "lock"]
        print(f"{kills} kills at random moments (median {sorted(moments)[len(moments) // 2] * 1000:.0f} ms into a process), "
              f"{files} files of {SIZE >> 20} MiB, {processes} processes, {resumed} transfers went on where one had stopped; "
              f"{wrong} files wrong, {len(left)} files left behind; seed {seed}")
    finally:
        nginx.terminate()
        nginx.wait()
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if wrong or left or kills < kills_wanted else 0)


if __name__ == "__main__":
    main()
