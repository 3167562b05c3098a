#!/bin/sh
# Fuzzes one target for a number of seconds: run.sh TARGET SECONDS, for instance run.sh FuzzSplit 60.
# Finds go to corpus.work/; a failing input is written here as crash-…: name it for its cause and move it to
# FailCases/TARGET, where the plain tests replay it.
set -eu
cd "$(dirname "$0")"
target=${1:?usage: run.sh TARGET SECONDS}
seconds=${2:?usage: run.sh TARGET SECONDS}
# SwiftPM hands the two sanitizers on in an order of its own, and with one of the two the compiler leaves the coverage out:
# a fuzzer that runs, sees nothing of what it does, and finds nothing. The order changes from build to build.
for attempt in 1 2 3 4 5 6; do
    swift build -c release --product "$target" --sanitize address --sanitize fuzzer >&2
    binary="$(swift build -c release --show-bin-path)/$target"
    if grep -q sancov_cntrs "$binary"; then break; fi
    if [ "$attempt" = 6 ]; then
        echo "run.sh: $target was built without coverage six times over" >&2
        exit 1
    fi
    echo "run.sh: built without coverage; building anew" >&2
    rm -rf .build/*/release .build/release
done
mkdir -p "corpus.work/$target" "Corpus/$target" "FailCases/$target"
# Without this a crash starts swift-backtrace, which outlives us and keeps our pipes open.
export SWIFT_BACKTRACE=enable=no
exec nice "$binary" \
    -max_total_time="$seconds" -dict=http.dict -rss_limit_mb=1024 -timeout=5 -max_len=4096 -print_final_stats=1 \
    "corpus.work/$target" "Corpus/$target" "FailCases/$target"
