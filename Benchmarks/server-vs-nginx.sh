#!/usr/bin/env bash
# The embedded server against nginx: the same body, one loop against one worker, both pinned to core 0, wrk to core 1.
# Usage: [NGINX_PORT=18931] Benchmarks/server-vs-nginx.sh [pairs] [seconds]
# Prints requests/s and CPU microseconds a request of each run, then the medians and their ratios.
set -euo pipefail
cd "$(dirname "$0")/.."
pairs=${1:-5}
seconds=${2:-5}
port=${NGINX_PORT:-18931}
for tool in nginx wrk taskset; do
    command -v "$tool" >/dev/null || { echo "server-vs-nginx: $tool is not installed" >&2; exit 1; }
done
swift build --traits Commands -c release --product httpbin >/dev/null
work=$(mktemp -d)
nginx_pid=
ours_pid=
trap 'kill $nginx_pid $ours_pid 2>/dev/null || true; rm -rf "$work"' EXIT

# The body and as many header octets as ours; no log, no limit on requests a connection.
cat >"$work/nginx.conf" <<CONF
daemon off;
master_process off;
worker_processes 1;
error_log $work/error.log crit;
pid $work/nginx.pid;
events { worker_connections 1024; }
http {
    access_log off;
    keepalive_requests 1000000000;
    default_type "text/plain; charset=utf-8";
    client_body_temp_path $work/body; proxy_temp_path $work/proxy; fastcgi_temp_path $work/fastcgi;
    uwsgi_temp_path $work/uwsgi; scgi_temp_path $work/scgi;
    server { listen unix:$work/unused; listen 127.0.0.1:$port; location / { return 200 "Uncurl test server\n"; } }
}
CONF
taskset -c 0 nginx -p "$work" -c "$work/nginx.conf" 2>/dev/null &
nginx_pid=$!
taskset -c 0 .build/release/httpbin --port 0 >"$work/address" &
ours_pid=$!
for _ in $(seq 50); do [ -s "$work/address" ] && [ -S "$work/unused" ] && break; sleep 0.1; done
ours_url=$(cat "$work/address")
kill -0 "$nginx_pid" 2>/dev/null || { echo "server-vs-nginx: nginx did not start: $(cat "$work/error.log")" >&2; exit 1; }

# utime + stime of a process, in clock ticks
ticks() { awk '{print $14 + $15}' "/proc/$1/stat"; }
hz=$(getconf CLK_TCK)

run() { # name pid url
    local before after out requests rate
    before=$(ticks "$2")
    out=$(taskset -c 1 wrk -t1 -c64 -d"${seconds}s" "$3")
    after=$(ticks "$2")
    requests=$(awk '/requests in/{print $1}' <<<"$out")
    rate=$(awk '/Requests\/sec/{print $2}' <<<"$out")
    awk -v n="$1" -v r="$rate" -v t=$((after - before)) -v hz="$hz" -v q="$requests" \
        'BEGIN{printf "%s %.0f %.3f\n", n, r, t / hz * 1e6 / q}' | tee -a "$work/runs"
}

echo "server requests/s cpu-us/request"
for _ in $(seq "$pairs"); do
    run nginx "$nginx_pid" "http://127.0.0.1:$port/"
    run ours "$ours_pid" "$ours_url"
done
median() { awk -v n="$1" -v c="$2" '$1 == n {print $c}' "$work/runs" | sort -g | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
awk -v nr="$(median nginx 2)" -v or="$(median ours 2)" -v nc="$(median nginx 3)" -v oc="$(median ours 3)" 'BEGIN {
    printf "median: nginx %d/s %.2f us, ours %d/s %.2f us: %.2f times the requests, %.2f times the CPU a request\n",
        nr, nc, or, oc, or / nr, oc / nc }'
