#!/usr/bin/env python3
"""What a new package takes on that depends on a client: the packages that are resolved for it, the CPU time of its first release build, and the
warnings it sees. One empty package for each client, in a temporary folder, from a clone of this repository at its last commit.
./dev bench dependant [CLIENT ...]"""
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent.parent

UNCURL = '.package(url: "file://{clone}", branch: "main")'
CLIENTS = {
    "URLLoading by URL": (UNCURL, "URLLoading", "uncurl", "_ = try await URLSession.shared.data(from: url)"),
    "Uncurl by URL": (UNCURL, "Uncurl", "uncurl", "_ = try await HTTPSessionManager(baseURL: url).get(\"users/1\", as: [String].self)"),
    "Uncurl by path": ('.package(name: "uncurl", path: "{clone}")', "Uncurl", "uncurl",
                       "_ = try await HTTPSessionManager(baseURL: url).get(\"users/1\", as: [String].self)"),
    "AsyncHTTPClient": ('.package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0")', "AsyncHTTPClient", "async-http-client",
                        "_ = try await HTTPClient.shared.execute(HTTPClientRequest(url: url.absoluteString), timeout: .seconds(1))"),
}


def cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(folder, clone, dependency, product, package, call):
    """(packages resolved, CPU seconds of the build, warnings)"""
    sources = folder / "Sources/App"
    sources.mkdir(parents=True)
    (folder / "Package.swift").write_text(f"""// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "App",
    dependencies: [{dependency.format(clone=clone)}],
    targets: [.executableTarget(name: "App", dependencies: [.product(name: "{product}", package: "{package}")])]
)
""")
    (sources / "main.swift").write_text(f"""import Foundation
import {product}

let url = URL(string: "http://127.0.0.1:1")!
do {{ {call} }} catch {{ print(error) }}
""")
    said = subprocess.run(["swift", "package", "show-dependencies", "--format", "flatlist"], cwd=folder, check=True, capture_output=True, text=True)
    resolved = sorted(set(said.stdout.split()))
    began = cpu()
    built = subprocess.run(["swift", "build", "-c", "release"], cwd=folder, capture_output=True, text=True)
    took = cpu() - began
    if built.returncode:
        sys.exit(built.stdout + built.stderr)
    return resolved, took, re.findall(r"(?:\S+: )?warning: .*", said.stderr + built.stdout + built.stderr)


def main():
    wanted = sys.argv[1:] or list(CLIENTS)
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        clone = os.path.join(folder, "uncurl")
        subprocess.run(["git", "clone", "-q", "--branch", "main", str(HERE), clone], check=True)
        for name in wanted:
            where = pathlib.Path(folder, re.sub(r"\W", "-", name))
            resolved, took, warnings = measure(where, clone, *CLIENTS[name])
            figures[name] = took
            print(f"{name}: {len(resolved)} packages ({', '.join(resolved)}), {took:.0f} s of CPU, {len(warnings)} warnings", flush=True)
            for warning in sorted(set(warnings)):
                print("   ", warning)
    peer = figures.get("AsyncHTTPClient")
    for name, took in figures.items():
        if peer and name != "AsyncHTTPClient":
            print(f"{name}: {took / peer:.2f} of AsyncHTTPClient's CPU")


main()
