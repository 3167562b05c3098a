"""What the comparisons share: an nginx of their own, pinned programs, and their CPU time."""
import contextlib
import os
import re
import resource
import shutil
import socket
import subprocess
import tempfile
import time
import types
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PEERS = os.path.join(ROOT, "Benchmarks", ".peers")


def build(product):
    """A release binary as it is shipped."""
    subprocess.run([os.path.join(ROOT, "tools", "build"), product], check=True, stderr=subprocess.DEVNULL)
    return os.path.join(ROOT, ".build", "release", product)


@contextlib.contextmanager
def compiled(source, *libraries):
    """A program of this folder in C, for what must cost nothing itself; it is gone with the folder it lies in."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        subprocess.run(["clang", "-O2", "-o", program, os.path.join(ROOT, "Benchmarks", source), *libraries], check=True)
        yield program


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise SystemExit(f"nothing listens on port {port}")


def certificate(folder):
    """An authority and a certificate for localhost and the loopback addresses; the authority's file."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, cwd=folder, stderr=subprocess.DEVNULL)
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Benchmark CA", "-days", "2")
    openssl("req", *key, "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=benchmark")
    with open(os.path.join(folder, "names"), "w") as f:
        f.write("subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1\nextendedKeyUsage=serverAuth\n")
    openssl("x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-out", "leaf.pem", "-days", "2", "-extfile", "names")
    return os.path.join(folder, "ca.pem")


@contextlib.contextmanager
def file_server(size, core=None, body="Hello, World!", line=None):
    """nginx over plain TCP and TLS (P-256, 1.2 and 1.3): `/` is short, `/file` has `size` bytes (zeros, or a line again and again), PUTs go nowhere.
    Yields plain, secure (URLs without a path) and authority (a file)."""
    folder = tempfile.mkdtemp(prefix="uncurl-nginx-")
    os.chmod(folder, 0o755)
    plain, secure = free_port(), free_port()
    authority = certificate(folder)
    with open(os.path.join(folder, "file"), "wb") as f:
        if line:
            f.write((line * (size // len(line) + 1))[:size])
        f.truncate(size)
    config = os.path.join(folder, "nginx.conf")
    with open(config, "w") as f:
        f.write(f"""
daemon off; master_process off; worker_rlimit_nofile 20000; pid {folder}/pid; error_log {folder}/error.log crit;
events {{ worker_connections 18000; }}
http {{ access_log off; keepalive_requests 1000000000; keepalive_timeout 300s; sendfile on; tcp_nodelay on;
  client_max_body_size 0;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{ listen 127.0.0.1:{plain} backlog=4096; listen 127.0.0.1:{secure} ssl backlog=4096; root {folder};
    ssl_certificate {folder}/leaf.pem; ssl_certificate_key {folder}/leaf.key; ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_cache shared:sessions:10m;
    location = / {{ default_type text/plain; return 200 "{body}"; }} }} }}
""")
    server = subprocess.Popen(pinned(core) + ["nginx", "-c", config, "-p", folder], stderr=subprocess.DEVNULL)
    try:
        wait_for(plain)
        wait_for(secure)
        yield types.SimpleNamespace(
            plain=f"http://127.0.0.1:{plain}", secure=f"https://127.0.0.1:{secure}", authority=authority)
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def nginx(core=None, body="Hello, World!"):
    """One worker, keep-alive without end, no log; yields its port."""
    folder = tempfile.mkdtemp(prefix="uncurl-nginx-")
    os.chmod(folder, 0o755)
    port = free_port()
    config = os.path.join(folder, "nginx.conf")
    with open(os.path.join(folder, "index.html"), "w") as f:
        f.write(body)
    with open(config, "w") as f:
        f.write(f"""
daemon off; master_process off; worker_rlimit_nofile 20000; pid {folder}/pid; error_log {folder}/error.log crit;
events {{ worker_connections 18000; }}
http {{ access_log off; keepalive_requests 1000000000; keepalive_timeout 300s; sendfile on; tcp_nodelay on;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{ listen 127.0.0.1:{port} backlog=4096; root {folder};
    location = /served {{ stub_status; }}
    location = / {{ default_type text/plain; return 200 "{body}"; }} }} }}
""")
    command = pinned(core) + ["nginx", "-c", config, "-p", folder]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield port
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def library(folder, source):
    """A library of one C file, to be loaded before a program."""
    made = os.path.join(folder, os.path.splitext(os.path.basename(source))[0] + ".so")
    subprocess.run(["clang", "-O2", "-shared", "-fPIC", "-o", made, source], check=True)
    return made


def instructions(command, preload=None):
    """How many instructions a run takes, by callgrind. It reads no debugging information of Swift's: a stripped copy runs."""
    environment = {**os.environ, "LD_PRELOAD": preload} if preload else None
    with tempfile.TemporaryDirectory() as folder:
        stripped = os.path.join(folder, "stripped")
        subprocess.run(["strip", "-o", stripped, command[0]], check=True)
        ended = subprocess.run(["valgrind", "--tool=callgrind", "--fair-sched=yes", "--callgrind-out-file=/dev/null", stripped, *command[1:]],
                               env=environment, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", ended.stderr).group(1))


def served(port):
    """How many requests the nginx of that port has been sent: also those that a client does not count."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/served") as answer:
        return int(answer.read().split()[9])


def checkout(name, repository):
    """The folder of a peer that no package has, and whose sources never come into this repository."""
    folder = os.path.join(PEERS, name)
    if not os.path.isdir(folder):
        raise SystemExit(f"{name} is missing: check out {repository} (with its submodules) as {folder}, which git ignores")
    return folder


def pinned(core):
    return [] if core is None else ["taskset", "-c", str(core)]


def measured(action):
    """What `action` returns, and the CPU seconds of the programs it waited for: their own, and the kernel's for them."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = action()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return result, after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime


def run_split(command, core=None):
    """Runs to the end; (output, CPU seconds of its own, CPU seconds of the kernel for it)."""
    result, user, system = measured(lambda: subprocess.run(pinned(core) + command, capture_output=True, text=True))
    if result.returncode != 0:
        raise SystemExit(f"{command[0]} exited {result.returncode}: {result.stderr or result.stdout}")
    return result.stdout, user, system


def run(command, core=None):
    """Runs to the end; (output, CPU seconds, wall seconds)."""
    start = time.monotonic()
    output, user, system = run_split(command, core)
    return output, user + system, time.monotonic() - start


def busy(core):
    """CPU seconds that a core has spent on anything at all, by /proc/stat, in steps of 10 ms."""
    row = next(line.split() for line in open("/proc/stat") if line.startswith(f"cpu{core} "))
    return sum(int(row[column]) for column in (1, 2, 3, 6, 7)) / os.sysconf("SC_CLK_TCK")


def soft_interrupts():
    """CPU seconds of the kernel's threads for soft interrupts, which no program's own figures have."""
    total = 0
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and open(f"/proc/{name}/comm").read().startswith("ksoftirqd/"):
                total += int(open(f"/proc/{name}/schedstat").read().split()[0]) / 1e9
    return total


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def machine():
    model = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "?")
    return f"{os.cpu_count()} cores, {model}, Linux {os.uname().release}"
