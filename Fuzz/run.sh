#!/bin/sh
# Fuzzes one target for a number of seconds: run.sh TARGET SECONDS, for instance run.sh FuzzSplit 60.
# Finds go to corpus.work/; a failing input is written here as crash-…: name it for its cause and move it to
# FailCases/TARGET, where the plain tests replay it.
set -eu
cd "$(dirname "$0")"
target=${1:?usage: run.sh TARGET SECONDS}
seconds=${2:?usage: run.sh TARGET SECONDS}
# `fuzzer` after `address`: the other order builds without coverage, and says so only by finding nothing.
swift build -c release --product "$target" --sanitize address --sanitize fuzzer >&2
mkdir -p "corpus.work/$target" "Corpus/$target" "FailCases/$target"
# Without this a crash starts swift-backtrace, which outlives us and keeps our pipes open.
export SWIFT_BACKTRACE=enable=no
exec nice "$(swift build -c release --show-bin-path)/$target" \
    -max_total_time="$seconds" -dict=http.dict -rss_limit_mb=1024 -timeout=5 -max_len=4096 -print_final_stats=1 \
    "corpus.work/$target" "Corpus/$target" "FailCases/$target"
