#!/usr/bin/env bash
# The tests that start real brokers, and every scenario on each release that is given: tools/test-kafka.sh 4.3.1 3.9.2
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/parts.sh
have_kafka || exit 1
export MUSTER_REQUIRE_KAFKA=1 MUSTER_KAFKA_RELEASES="$*"
echo "every scenario on Kafka $*"
# Most of a scenario is waiting, so the tests of the launcher run beside it.
launcher=$(mktemp)
trap 'rm -f "$launcher"' EXIT
$GO test -count=1 -timeout 10m ./internal/kafka ./conformance/targets/kafka >"$launcher" 2>&1 &
beside=$!
status=0
$GO test -count=1 -parallel 6 -timeout 20m -v -run '^TestKafka' ./cmd/muster ./impl/record ./fuzz || status=$?
wait "$beside" || status=$?
cat "$launcher"
exit "$status"
