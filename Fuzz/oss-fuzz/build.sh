#!/bin/bash
# Builds every fuzz target into $OUT, each with its seeds and the dictionary. OSS-Fuzz and ClusterFuzzLite run it in their image; with OUT set it runs anywhere
# with a Swift toolchain: OUT=/tmp/out Fuzz/oss-fuzz/build.sh
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"
cd ..
: "${OUT:?the folder for the programs}"
mkdir -p "$OUT"
# The readers see what their rooms keep to themselves (Package.swift).
export UNCURL_FUZZ=1
scratch=${SCRATCH:-.build-oss-fuzz}
# The last flag settles the order of the sanitizers; run.sh says why.
flags=(-c release --scratch-path "$scratch" --sanitize address --sanitize fuzzer -Xswiftc -sanitize=fuzzer -Xswiftc -enable-testing)
programs=(FuzzReader)
for target in Corpus/Fuzz*; do programs+=("${target#Corpus/}"); done
for program in "${programs[@]}"; do swift build "${flags[@]}" --product "$program"; done
built=$(swift build "${flags[@]}" --show-bin-path)

# A target's program, seeds and dictionary, under the target's name.
for corpus in Corpus/*; do
    name=${corpus#Corpus/}
    case "$name" in
        Fuzz*) cp "$built/$name" "$OUT/$name" ;;
        *)
            # One program has all readers; the environment says which. A script of the target's name sets it.
            cp -u "$built/FuzzReader" "$OUT/FuzzReader.bin"
            printf '#!/bin/sh\n# LLVMFuzzerTestOneInput is in FuzzReader.bin.\nREADER=%s exec "$(dirname "$0")/FuzzReader.bin" "$@"\n' "$name" >"$OUT/$name"
            chmod +x "$OUT/$name"
            ;;
    esac
    cp http.dict "$OUT/$name.dict"
    printf '[libfuzzer]\nmax_len = 131072\ntimeout = 5\nrss_limit_mb = 1024\n' >"$OUT/$name.options"
    seeds=$(mktemp -d)
    cp "$corpus"/* "$seeds/" 2>/dev/null || true
    if [ -d "FailCases/$name" ]; then cp "FailCases/$name"/* "$seeds/" 2>/dev/null || true; fi
    rm -f "$OUT/${name}_seed_corpus.zip"
    (cd "$seeds" && python3 -c 'import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as archive:
    for name in sorted(os.listdir(".")):
        archive.write(name)' "$(cd - >/dev/null && readlink -f "$OUT")/${name}_seed_corpus.zip")
    rm -rf "$seeds"
done
# Swift's own libraries are not on the machines that run the targets.
runtime=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")/lib/swift/linux
mkdir -p "$OUT/lib"
cp -u "$runtime"/*.so "$OUT/lib/"
for program in "$OUT"/Fuzz*; do
    case "$program" in
        *.dict | *.options | *.zip) ;;
        *) if command -v patchelf >/dev/null; then patchelf --set-rpath '$ORIGIN/lib' "$program"; fi ;;
    esac
done
