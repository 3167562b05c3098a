#!/usr/bin/env python3
"""Uploads that go on, against SwiftNIO's NIOResumableUpload, which resets each connection after some octets: in each version, and in
a background session whose process is killed. What has come must be what was sent. tools/resumable"""
import filecmp
import os
import random
import signal
import subprocess
import sys
import tempfile

SIZE = 24 << 20
# Of one connection: more than its buffers hold, so that each brings the upload on.
PART = 9 << 20


def main():
    peer, program = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="uncurl-resumable-") as folder:
        sent = os.path.join(folder, "sent")
        with open(sent, "wb") as file:
            file.write(random.Random(20261123).randbytes(SIZE))
        received = os.path.join(folder, "received")
        os.mkdir(received)
        server = subprocess.Popen([peer, received, str(PART)], stdout=subprocess.PIPE, text=True)
        try:
            port = server.stdout.readline().split()[1]
            for version in (3, 5, 6):
                environment = dict(os.environ, UPLOAD_VERSION=str(version), XDG_STATE_HOME=os.path.join(folder, "state"))
                name = f"version-{version}"
                url = f"http://127.0.0.1:{port}/{name}"
                subprocess.run([program, "--upload", url, sent], env=environment, check=True, timeout=300,
                               stdout=subprocess.DEVNULL)
                check(sent, received, name)
                name = f"killed-{version}"
                command = [program, "--background-upload", name, f"http://127.0.0.1:{port}/{name}", sent]
                for octets in (SIZE // 4, SIZE // 2):
                    died = subprocess.run(command, env=dict(environment, DIES_AFTER=str(octets)), timeout=300,
                                          stdout=subprocess.DEVNULL)
                    if died.returncode != -signal.SIGKILL:
                        raise SystemExit(f"resumable: {name} ended with {died.returncode} instead of being killed")
                subprocess.run(command, env=environment, check=True, timeout=300, stdout=subprocess.DEVNULL)
                check(sent, received, name)
        finally:
            server.kill()
            server.wait()
    print("resumable: uploads to NIOResumableUpload go on in versions 3, 5 and 6, in one process and after kill -9")


def check(sent, received, name):
    if not filecmp.cmp(sent, os.path.join(received, name), shallow=False):
        raise SystemExit(f"resumable: what has come of {name} is not what was sent")


main()
