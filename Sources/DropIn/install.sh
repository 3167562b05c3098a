#!/usr/bin/env bash
# Installs URLLoading in the place of FoundationNetworking, with Uncurl and UncurlTestKit: tools/dropin, which has built them. After the folders
# come the traits that they were built with.
set -euo pipefail
built=$1 prefix=$(mkdir -p "$2" && cd "$2" && pwd)
libraries="-lssl -lcrypto -lz"
for name in "${@:3}"; do
    case "$name" in Brotli) libraries+=" -lbrotlidec" ;; Zstd) libraries+=" -lzstd" ;; esac
done
modules=(FoundationNetworking URLLoading Uncurl UncurlTestKit)
# Whose code goes into the library: the modules, and what lies below them.
below=(CUncurlLinux CUncurlPublicSuffixes UncurlText UncurlHTTP1 UncurlSemantics UncurlReactor UncurlTLS UncurlWebSocket UncurlEngine UncurlClient)

fresh=$(mktemp -d "$prefix/.install.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
mkdir -p "$fresh/modules" "$fresh/shared" "$fresh/static"
for module in "${modules[@]}"; do cp "$built/Modules/$module.swiftmodule" "$fresh/modules/"; done
strip --strip-unneeded -o "$fresh/shared/libUncurlDropIn.so" "$built/libUncurlDropIn.so"

# One object file, in an archive: what only the runtime looks up (dynamic replacements, a class that Foundation finds by its name) is dropped from an
# archive of many. The library that `-l` finds is a script, which asks for that archive and for what it needs.
objects=()
for module in "${modules[@]}" "${below[@]}"; do
    while IFS= read -r object; do
        # The object of a source that is gone stays in the folder of an earlier build.
        name=$(basename "$object" .o)
        if [[ $name != *.swift ]] || grep -q "/$name\$" "$built/$module.build/sources"; then objects+=("$object"); fi
    done < <(find "$built/$module.build" -name '*.o' | sort)
done
ld -r -o "$fresh/UncurlDropIn.o" "${objects[@]}"
strip --strip-debug "$fresh/UncurlDropIn.o"
ar rcD "$fresh/static/libUncurlDropInCode.a" "$fresh/UncurlDropIn.o"
rm "$fresh/UncurlDropIn.o"
echo "INPUT(libUncurlDropInCode.a $libraries)" >"$fresh/static/libUncurlDropIn.a"

# Named by what is in it, and by the compiler and the C library that it is for: SwiftPM takes a folder of another name for another module.
compiler=$(swift --version 2>/dev/null | head -n 1)
hash=$({ echo "$compiler"; ldd --version | head -n 1; cat "$fresh"/*/*; } | sha256sum | cut -c1-16)
lib=$prefix/lib/$hash
rm -rf "$lib"
mkdir -p "$prefix/lib" "$prefix/bin"
mv "$fresh" "$lib"
chmod 755 "$lib"
for kind in shared static; do
    cat >"$prefix/$kind.json" <<JSON
{
  "schemaVersion": "1.0",
  "rootPath": "$lib",
  "swiftCompiler": { "extraCLIOptions": ["-I", "$lib/modules", "-L", "$lib/$kind"] },
  "linker": { "extraCLIOptions": ["-L$lib/$kind"$([ $kind = static ] || echo ", \"-rpath\", \"$lib/shared\"")] }
}
JSON
done
echo "$compiler" >"$prefix/compiler"
install -m 755 "$(dirname "$0")/uncurl" "$prefix/bin/uncurl"
# Those of earlier installs, which no toolset names any more.
for other in "$prefix"/lib/*; do [ "$other" = "$lib" ] || rm -rf "$other"; done
echo "dropin: $prefix/bin/uncurl build | test | run | package, in any package"
