#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds lode optimised in build-bench and prints the benchmark table.
#   bench/run.sh [RECORDED.flow.zst]     default: $LODE_BENCH_DATA, then ../shared/data/flow
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:-${LODE_BENCH_DATA:-../shared/data/flow/sqlite_shell.flow.zst}}
[ -d build-bench ] || meson setup build-bench --buildtype=release -Db_ndebug=true >/dev/null
ninja -C build-bench bench/mine_bench bench/generate_graph >/dev/null
LODE_BENCH_DATA=$data build-bench/bench/mine_bench
