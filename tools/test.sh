#!/usr/bin/env bash
# The test suite in parts, each with the seconds it takes:
#   build        everything compiles, tests with the race detector included
#   unit         all tests that are not apart, with the race detector
#   exploration  every state of small groups, with and without their clients (checker/runs)
#   judges       what else takes much of the processor (checker/explore and its specimen, checker/clients, checker/lockstep, internal/coverage): the race
#                detector would only slow it down. And that simulations happen again as they did (fuzz/shell), which is not so with the race detector. What takes minutes of it is in make test-judges
#   scenarios    every scenario on what runs in this process and on the reference over TCP, and with wrong texts
#   histories    the judge of concurrent histories
#   Kafka        what starts real brokers: internal/kafka, conformance/targets/kafka, and tests called TestKafka... These mostly wait, so that
#                exploration and judges are done beside them, at the lowest priority
# Caching is off: rapid reads its settings from the environment, which go test's cache does not see.
set -uo pipefail
cd "$(dirname "$0")/.."
. tools/parts.sh

module=$($GO list -m)
apart=("$module/cmd/muster" "$module/conformance" "$module/checker/runs" "$module/checker/explore" "$module/checker/variant" "$module/checker/clients" "$module/checker/lockstep" "$module/internal/coverage" "$module/internal/differ" "$module/internal/retell" "$module/conformance/targets/embedded" "$module/checker/linearize" "$module/fuzz/bugs")
kafka=true
if [ -z "${MUSTER_REQUIRE_KAFKA:-}" ] && ! have_kafka; then
	kafka=false # then tests that need it skip themselves
else
	apart+=("$module/internal/kafka" "$module/conformance/targets/kafka")
fi
mapfile -t together < <($GO list ./... | grep -v -x -F -f <(printf '%s\n' "${apart[@]}"))

# go list -export compiles tests without linking them, which the parts do once for themselves.
build() { $GO build ./... && $GO list -export -test -race "${together[@]}" >/dev/null && $GO list -export -test "${apart[@]}" >/dev/null; }
# side_by_side FIRST SECOND runs both at once; what the first one prints comes last.
side_by_side() {
	local log status=0
	log=$(mktemp)
	"$1" >"$log" 2>&1 &
	local first=$!
	"$2" || status=$?
	wait "$first" || status=$?
	cat "$log"
	rm -f "$log"
	return "$status"
}
# The tests of the command mostly wait for the command, which is built without the race detector: they run beside the others.
cli() { $GO test -count=1 -parallel 8 -timeout 5m -skip '^TestKafka' ./cmd/muster; }
# Some packages wait more than they compute: a third one at a time fills two processors.
raced() { $GO test -race -p 3 -count=1 -parallel 8 -timeout 5m -skip '^TestKafka' "${together[@]}"; }
unit() { side_by_side cli raced; }
processor() { $GO test -count=1 -timeout 5m ./checker/runs ./checker/explore ./checker/variant ./checker/clients ./checker/lockstep ./internal/coverage ./fuzz/shell; }
scenarios() {
	$GO build -o bin/muster ./cmd/muster || return
	local target
	for target in model impl; do bin/muster run --strict --target "$target" conformance/scenarios || return; done
	$GO test -count=1 -timeout 5m -run '^TestWrongTextFails$' ./conformance # runs them thousands of times, which the race detector makes a minute of
}
judged() { $GO test -count=1 -timeout 5m -skip "$SLOW_HISTORIES" ./checker/linearize; }
# Over TCP they go by the clock, and mostly wait. With all of the unit tests beside them a machine was too busy for some.
over_tcp() { $GO test -count=1 -parallel 8 -timeout 5m -skip '^TestWrongTextFails$' ./conformance; }
in_process() {
	local status=0
	scenarios || status=$?
	judged || status=$?
	return "$status"
}
real() { tools/test-kafka.sh 4.3.1; } # make test-kafka has the other releases

part 'build' 60 build
part 'unit, with the race detector' 120 unit
part 'scenarios, histories' 70 side_by_side over_tcp in_process
if $kafka; then
	beside 'exploration, judges' 140 processor
	part 'Kafka 4.3.1' 120 real
	join
else
	part 'exploration, judges' 100 processor
	scenarios=$(find conformance/scenarios -name '*.txt' | wc -l)
	not_run 'Kafka 4.3.1' "$scenarios scenarios, and $(grep -rhoE '^func TestKafka' --include='*_test.go' . | wc -l) tests of the command"
fi
finish
