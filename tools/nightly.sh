#!/usr/bin/env bash
# What takes too long for every change: larger explorations, more random walks, longer histories, every judge on every planted bug, a foreign broker with
# Kafka's own defaults, every scenario on each release that is given, and thousands of mutants. About four hours, one of which is for mutants. MUSTER_PARTS='^verify' runs only the parts of that name.
set -uo pipefail
cd "$(dirname "$0")/.."
. tools/parts.sh
export MUSTER_NIGHTLY=1

# First what goes by the clock, and would suffer from anything beside it.
campaigns() { # inconclusive (2) is a machine that is too busy to tell, which is no failure
	local target code
	$GO build -o bin/muster ./cmd/muster || return
	for target in kafka:4.3.1 kafka:3.9.2; do
		code=0
		bin/muster campaign "$target" --budget 10m || code=$?
		[ "$code" = 0 ] || [ "$code" = 2 ] || return "$code"
	done
}
part 'campaigns on real Kafka' 1260 campaigns
part 'real Kafka' 1200 tools/test-kafka.sh "$@"
part 'planted bugs' 2700 env MUSTER_BUGS=all $GO test -count=1 -timeout 90m -v -run '^Test(Bugs|LockstepFromSeveralSeeds|ClientsLeftAlone)$' ./fuzz/bugs
part 'planted bugs, fuzzed' 600 $GO test -count=1 -timeout 30m -v -run '^TestFuzzing$' ./fuzz/bugs
part 'fuzzing' 420 env FUZZTIME=5m GO="$GO" tools/fuzz.sh
served() {
	local code=0
	bin/muster campaign impl+serve --budget 2m || code=$?
	[ "$code" = 0 ] || [ "$code" = 2 ]
}
part 'campaign on muster serve' 150 served
part 'muster serve, every scenario' 300 $GO test -count=1 -timeout 10m -run '^TestServed$' ./conformance
part 'starved machines' 150 $GO test -count=1 -timeout 10m -run '^TestStarvedMachine$' ./conformance

# Then what only takes the processor.
part 'unit, with the race detector, ten times' 1200 env MUSTER_LINEARIZE_RUNS=250 $GO test -race -count=10 -timeout 20m -skip '^TestKafka' ./model/... ./impl/... ./checker/linearize ./checker/history ./checker/traffic ./checker/campaign/... ./checker/lockstep ./checker/observe ./internal/differ
part 'the log, crashed and damaged everywhere' 600 env MUSTER_CRASHES=1 $GO test -count=1 -timeout 30m -skip '^TestKafka' ./impl/store
part 'simulation of muster serve' 900 $GO test -count=1 -timeout 40m -v -run '^TestShell$' ./fuzz/shell -args -runs 20000 -from "$(date +%Y%j)00000"
part 'legal histories, ten thousand' 300 env MUSTER_LINEARIZE_RUNS=5100 $GO test -count=1 -timeout 30m -v -run '^TestSpecificationIsLegal$' ./checker/linearize
part 'a second opinion on small histories' 900 env MUSTER_SECOND_OPINION=1 $GO test -count=1 -timeout 40m -run '^Test(Timed|Untimed)Agreement$' ./checker/linearize
owners() { # legal logs, spoilt logs, and real consumers to whom everything happens
	$GO test -count=1 -timeout 10m -run '^Test(Legal|Planted)$' ./checker/ownership -rapid.checks=20000 &&
		$GO test -count=1 -timeout 5m -run '^TestConsumers$' ./conformance/targets/embedded
}
part 'owners, twenty thousand logs' 300 owners
part 'logs that others have written' 120 $GO test -count=1 -timeout 10m -run '^TestForeignLogs$' ./conformance/targets/embedded
part 'coverage' 120 $GO test -count=1 -timeout 5m ./internal/coverage
# A run that does not end in time says so and where it can go on: that is no failure, nor is it a pass.
explore() {
	local code=0
	$GO build -o bin/muster ./cmd/muster || return
	bin/muster explore --night --until 20m || code=$?
	[ "$code" -eq 0 ] || [ "$code" -eq 2 ]
}
part 'exploration of larger groups' 1260 explore
part 'explorations that tests have no time for' 420 $GO test -count=1 -timeout 30m -run '^Test(LeanRunsHaveAllStates|JointToClosure)$' ./checker/runs ./conformance/targets/embedded
part 'verify impl, ten minutes' 720 $GO run ./cmd/muster verify impl --budget 10m
part 'librdkafka mock and wrong texts' 240 $GO test -count=1 -timeout 15m -run '^(TestOpen|TestRDKafkaMock|TestWrongTextFails)$' ./conformance ./conformance/targets/rdkafka
part 'mutants' 3600 make mutants GO="$GO"
part 'pages in a browser' 180 make test-pages GO="$GO" # skips itself, and says so, where there is no chromium
finish
