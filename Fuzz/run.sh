#!/bin/sh
# Fuzzes one target for a number of seconds: run.sh TARGET SECONDS, for instance run.sh FuzzSplit 60.
# Finds go to corpus.work/; a failing input is written here as crash-…: name it for its cause and move it to
# FailCases/TARGET, where the plain tests replay it. Inputs are up to 128 KiB long, and one that takes more than five seconds fails:
# what takes quadratic time shows in long inputs alone.
set -eu
cd "$(dirname "$0")"
target=${1:?usage: run.sh TARGET SECONDS}
seconds=${2:?usage: run.sh TARGET SECONDS}
# SwiftPM hands the two sanitizers on in an order of its own, another one from target to target, and where `address` comes
# last the compiler leaves the coverage out: a fuzzer that runs, sees nothing of what it does, and finds nothing. A third
# flag behind both settles it.
swift build -c release --product "$target" --sanitize address --sanitize fuzzer -Xswiftc -sanitize=fuzzer >&2
binary="$(swift build -c release --show-bin-path)/$target"
# The executable alone has some twenty; with the rooms below it there are thousands.
counters=$("$binary" -runs=0 2>&1 | sed -n 's/.*modules *(\([0-9]*\) inline.*/\1/p')
if [ "${counters:-0}" -lt 500 ]; then
    echo "run.sh: $target was built without coverage: ${counters:-0} counters" >&2
    exit 1
fi
mkdir -p "corpus.work/$target" "Corpus/$target" "FailCases/$target"
# Each seed once more, repeated to 64 KiB: by itself the fuzzer seldom makes its inputs that long.
mkdir -p "corpus.long/$target"
for seed in "Corpus/$target"/*; do
    [ -s "$seed" ] || continue
    long="corpus.long/$target/${seed##*/}"
    cp "$seed" "$long"
    while [ "$(wc -c <"$long")" -lt 65536 ]; do
        cat "$long" "$long" >"$long.twice"
        mv "$long.twice" "$long"
    done
done
# Without this a crash starts swift-backtrace, which outlives us and keeps our pipes open.
export SWIFT_BACKTRACE=enable=no
exec nice "$binary" \
    -max_total_time="$seconds" -dict=http.dict -rss_limit_mb=1024 -timeout=5 -max_len=131072 -print_final_stats=1 \
    "corpus.work/$target" "Corpus/$target" "corpus.long/$target" "FailCases/$target"
