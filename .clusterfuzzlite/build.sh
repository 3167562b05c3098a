#!/bin/bash
# ClusterFuzzLite looks for a build script of this name here.
set -euo pipefail
exec "$SRC/uncurl/Fuzz/oss-fuzz/build.sh"
