#!/usr/bin/env bash
# The judges judged: what takes minutes of the processor and seldom says something new. Parts as in tools/test.sh:
#   reference  the reference coordinator beside the specification, in walks and joint states, with faults planted in both; muster diff; scenarios made of explored ways
#   exploration  every state of two larger alphabets
#   histories  wrong histories are refused and made small, and a second judge with a clock of whole numbers has the same opinion
#   bugs       each judge on a few bugs of the bank
#   scenarios  every scenario on the reference over TCP, with the race detector
#   simulation muster serve with its network, disk and clock simulated, two thousand times
set -uo pipefail
cd "$(dirname "$0")/.."
. tools/parts.sh

part 'reference beside specification' 150 $GO test -count=1 -timeout 10m ./conformance/targets/embedded ./internal/differ ./internal/retell
part 'exploration' 60 $GO test -count=1 -timeout 10m -run '^TestRuns$' ./checker/runs -args -judges
part 'wrong histories' 90 $GO test -count=1 -timeout 10m -v -run "$SLOW_HISTORIES" ./checker/linearize
part 'planted bugs' 60 $GO test -count=1 -timeout 5m ./fuzz/bugs
part 'scenarios over TCP, with the race detector' 90 $GO test -race -count=1 -parallel 8 -timeout 5m -skip '^TestWrongTextFails$' ./conformance
part 'simulation of muster serve' 90 $GO test -count=1 -timeout 10m -v -run '^TestShell$' ./fuzz/shell -args -runs 2000
finish
