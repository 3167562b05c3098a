"""Type-checks a module anew with one trait of some at a time: traits.py MANIFEST MODULE TRAIT ...

MANIFEST is what SwiftPM wrote of a build with all of them; it has the compiler's arguments (tools/traits)."""
import json
import re
import subprocess
import sys
import tempfile

manifest, module, *traits = sys.argv[1:]
text = open(manifest, encoding="utf-8").read()
entry = re.search(r'^  "C\.%s-[^"]*\.module":\n.*?^    args: (\[.*?\])$' % module, text, re.M | re.S)
program, *words = json.loads(entry[1])
# What makes files, some with a path behind it.
making = {"-c", "-emit-dependencies", "-emit-module", "-emit-objc-header", "-incremental", "-parseable-output"}
naming = {"-emit-module-path", "-emit-objc-header-path", "-output-file-map", "-index-store-path"}
kept = [word for word, before in zip(words, [None] + words) if word not in making | naming and before not in naming]
for trait in traits:
    others = {"-D" + other for other in traits if other != trait}
    # The compiler leaves files of its diagnostics where it runs.
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "-typecheck"] + [word for word in kept if word not in others], check=True, cwd=folder)
    print(f"traits: {module} compiles with {trait} alone", flush=True)
