#!/usr/bin/env bash
# The search of checker/explore beside SPIN's, in one thread each, on the same small model with the same states: checker/explore/testdata/spin.
# By hand; speed is by the processor's time, but caches are shared, so the quieter the machine, the better. Needs spin and a C compiler
# (Debian: apt-get install spin gcc). tools/bench-spin.sh [MEMBERS], 3 to 7.
set -euo pipefail
cd "$(dirname "$0")/.."
members=${1:-6}
model=$PWD/checker/explore/testdata/spin/group.pml
for tool in spin gcc; do
	command -v "$tool" >/dev/null || { echo "bench-spin.sh needs $tool (Debian: apt-get install spin gcc)" >&2; exit 3; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
TIMEFORMAT='%U %S'

# told NAME: what $dir/out says of states, and $dir/took of the seconds of the processor.
told() {
	local states
	states=$(awk '/states, stored/ {print $1} /^BenchmarkSmallModel/ {for (i = 3; i < NF; i++) if ($(i+1) == "states") print $i}' "$dir/out")
	awk -v name="$1" -v states="$states" '{seconds = $1 + $2} END {printf "%-20s %9d states %8.2f s %9.0f states/s\n", name, states, seconds, states / (seconds > 0 ? seconds : 0.01)}' "$dir/took"
}

# searched NAME FLAGS... compiles SPIN's search and runs it.
searched() {
	local name=$1
	shift
	(cd "$dir" && spin -DN="$members" -a "$model" && gcc -O3 -DSAFETY -DNOREDUCE "$@" -o pan pan.c 2>gcc.log) || { cat "$dir/gcc.log" >&2; exit 1; }
	{ time "$dir/pan" -m5000000 -w24 -n >"$dir/out"; } 2>"$dir/took"
	told "$name"
}
searched 'SPIN, depth first'
searched 'SPIN, breadth first' -DBFS
${GO:-go} test -c -o "$dir/explore.test" ./checker/explore
{ time GOMAXPROCS=1 "$dir/explore.test" -test.run '^$' -test.bench '^BenchmarkSmallModel$' -test.benchtime 1x -members "$members" >"$dir/out"; } 2>"$dir/took"
told 'explore'
