#!/bin/sh
# Fuzzes: run.sh TARGET SECONDS, or run.sh all SECONDS [TARGET ...] for every target or those named, or run.sh coverage for what the inputs found so
# far reach.
# A target is a program of its own (FuzzSplit), or one of the readers of the program FuzzReader (set-cookie).
# Finds go to corpus.work/; a failing input is written here as crash-…: name it for its cause and move it to
# FailCases/TARGET, where the plain tests replay it. Inputs are up to 128 KiB long, and one that takes more than five seconds fails (a reader's: more
# than twenty times as long for each 64 KiB as JSON): what takes quadratic time shows in long inputs alone.
set -eu
cd "$(dirname "$0")"

# The readers see what their rooms keep to themselves.
export UNCURL_FUZZ=1
# Without this a crash starts swift-backtrace, which outlives us and keeps our pipes open.
export SWIFT_BACKTRACE=enable=no
# What the toolchain's Foundation leaves allocated is not ours.
export LSAN_OPTIONS="suppressions=$PWD/../Tests/sanitizer-leaks.supp"

product() {
    case "$1" in
        Fuzz*) echo "$1" ;;
        *) echo FuzzReader ;;
    esac
}

# SwiftPM hands the two sanitizers on in an order of its own, another one from target to target, and where `address` comes
# last the compiler leaves the coverage out: a fuzzer that runs, sees nothing of what it does, and finds nothing. A third
# flag behind both settles it.
build() {
    swift build -c release --product "$1" --sanitize address --sanitize fuzzer -Xswiftc -sanitize=fuzzer -Xswiftc -enable-testing >&2
}

# Each seed once more, repeated to 64 KiB: by itself the fuzzer seldom makes its inputs that long.
lengthen() {
    mkdir -p "corpus.work/$1" "Corpus/$1" "FailCases/$1" "corpus.long/$1"
    for seed in "Corpus/$1"/*; do
        [ -s "$seed" ] || continue
        long="corpus.long/$1/${seed##*/}"
        cp "$seed" "$long"
        while [ "$(wc -c <"$long")" -lt 65536 ]; do
            cat "$long" "$long" >"$long.twice"
            mv "$long.twice" "$long"
        done
    done
}

fuzz() {
    binary="$(swift build -c release --show-bin-path)/$(product "$1")"
    # The executable alone has some twenty; with the rooms below it there are thousands.
    counters=$(READER="$1" "$binary" -runs=0 2>&1 | sed -n 's/.*modules *(\([0-9]*\) inline.*/\1/p')
    if [ "${counters:-0}" -lt 500 ]; then
        echo "run.sh: $1 was built without coverage: ${counters:-0} counters" >&2
        return 1
    fi
    lengthen "$1"
    # AddressSanitizer would keep 256 MB of freed memory. In small pieces this memory takes 800 MB of the limit below.
    ASAN_OPTIONS="${ASAN_OPTIONS:-}:quarantine_size_mb=32" READER="$1" nice "$binary" \
        -max_total_time="$2" -dict=http.dict -rss_limit_mb=1024 -timeout=5 -max_len=131072 -print_final_stats=1 \
        "corpus.work/$1" "Corpus/$1" "corpus.long/$1" "FailCases/$1"
}

# Runs a target until it has had so many seconds of processor time, and prints a line. By the clock, a busy machine would give it less.
one() {
    log="corpus.work/$1.log"
    result=fine
    spent=0
    while [ "$spent" -lt "$2" ] && [ "$result" = fine ]; do
        # A process fuzzes for 40 s at most: Foundation leaks the errors of property lists, which would add up to a finding.
        left=$(($2 - spent))
        [ "$left" -le 40 ] || left=40
        fuzz "$1" "$left" >>"$log" 2>&1 || result="FOUND: see Fuzz/$log"
        # Not in a pipe: that would be another process, which has spent nothing.
        times >"$log.times"
        spent=$(awk 'NR == 2 { split($1, user, /[ms]/); split($2, kernel, /[ms]/)
            print int((user[1] + kernel[1]) * 60 + user[2] + kernel[2] + 1) }' "$log.times")
    done
    awk -v target="$1" -v spent="$spent" -v result="$result" '
        /^stat::number_of_executed_units/ { runs += $2 }
        /^stat::slowest_unit_time_sec/ && $2 > slowest { slowest = $2 }
        match($0, / cov: [0-9]+/) { edges = substr($0, RSTART + 6, RLENGTH - 6) }
        END { printf "%-22s %5d s %11d runs  %6d edges  slowest %d s  %s\n", target, spent, runs, edges, slowest, result }' "$log"
    [ "$result" = fine ]
}

# As many targets at once as there are processors; all are tried, whatever is found.
all() {
    seconds=$1
    shift
    [ $# -gt 0 ] || set -- Corpus/*
    for target in "$@"; do product "${target#Corpus/}"; done | sort -u | while read -r program; do build "$program"; done
    mkdir -p corpus.work
    for target in "$@"; do
        : >"corpus.work/${target#Corpus/}.log"
        printf '%s\n' "${target#Corpus/}"
    done | xargs -P "$(nproc)" -I TARGET ./run.sh one TARGET "$seconds"
}

# How many lines of each reader's file the inputs reach that are stored and that were found. Below 80 % is marked, with what else the file does.
coverage() {
    swift build -c release --product FuzzReader --scratch-path .build-coverage --sanitize fuzzer -Xswiftc -sanitize=fuzzer \
        -Xswiftc -enable-testing -Xswiftc -profile-generate -Xswiftc -profile-coverage-mapping >&2
    binary="$(swift build -c release --scratch-path .build-coverage --show-bin-path)/FuzzReader"
    tools=$(dirname "$(readlink -f "$(command -v swift)")")
    profile=$(mktemp -d)
    READER=list LLVM_PROFILE_FILE="$profile/list" "$binary" 2>/dev/null | while read -r reader source rest; do
        lengthen "$reader"
        READER="$reader" LLVM_PROFILE_FILE="$profile/raw" "$binary" -runs=0 -max_len=131072 \
            "corpus.work/$reader" "Corpus/$reader" "FailCases/$reader" >/dev/null 2>&1
        "$tools/llvm-profdata" merge "$profile/raw" -o "$profile/merged"
        "$tools/llvm-cov" export -summary-only -instr-profile "$profile/merged" "$binary" "$(readlink -f "../Sources/$source.swift")" \
            | python3 -c '
import json, sys
lines = json.load(sys.stdin)["data"][0]["totals"]["lines"]
rest = sys.argv[3] and ": the rest is " + sys.argv[3]
print("%-22s %5.1f %% of %4d lines of %s%s" % (
    sys.argv[1], lines["percent"], lines["count"], sys.argv[2], "" if lines["percent"] >= 80 else "  (below 80 %" + rest + ")"))' \
            "$reader" "$source" "$rest"
    done
    rm -rf "$profile"
}

case "${1:?usage: run.sh TARGET SECONDS | all SECONDS [TARGET ...] | coverage}" in
    all)
        : "${2:?usage: run.sh all SECONDS [TARGET ...]}"
        shift
        all "$@"
        ;;
    one) one "$2" "$3" ;;
    coverage) coverage ;;
    *)
        seconds=${2:?usage: run.sh TARGET SECONDS}
        build "$(product "$1")"
        fuzz "$1" "$seconds"
        ;;
esac
