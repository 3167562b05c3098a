#!/bin/sh
# Times our parser against picohttpparser and llhttp in one process, interleaved, and prints one table.
# Fetches the two from PyPI source packages that carry them into .peers/ (git-ignored). Usage: peers.sh [INPUT…]
set -eu
cd "$(dirname "$0")"
pico=gunicorn_h1c-0.6.9
llhttp=httptools-0.9.0
mkdir -p .peers
for package in gunicorn-h1c==0.6.9 httptools==0.9.0; do
    folder=.peers/$(echo "$package" | tr - _ | sed 's/==/-/')
    [ -d "$folder" ] && continue
    pip download -q --no-deps --no-binary :all: -d .peers "$package"
    tar -C .peers -xzf "$folder.tar.gz"
done
picodir=.peers/$pico/src/gunicorn_h1c/picohttpparser
lldir=.peers/$llhttp/vendor/llhttp
# clang where there is one: the Swift toolchain brings it.
cc=${CC:-$(command -v clang || command -v cc)}
$cc -O3 -march=native -fPIC -shared -o .peers/libpeers.so -I "$picodir" -I "$lldir/include" \
    peers/peers.c "$picodir/picohttpparser.c" "$lldir"/src/api.c "$lldir"/src/http.c "$lldir"/src/llhttp.c
# Without frame pointers, as the peers above are.
swift build -c release --omit-frame-pointers --product ParserRatio >&2
exec nice "$(swift build -c release --omit-frame-pointers --show-bin-path)/ParserRatio" .peers/libpeers.so Inputs "$@"
