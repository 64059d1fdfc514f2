#!/usr/bin/env bash
# Every native fuzz target that there is, one after the other, for FUZZTIME together (5m by default; s, m or h). What is found is kept by go test under
# testdata/fuzz of its package, as small as it was found, and is tried by every go test from then on.
# MUSTER_FUZZ='^FuzzEvents$' fuzzes only the targets whose names match.
set -uo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
FUZZTIME=${FUZZTIME:-5m}
case $FUZZTIME in
*[0-9]s) total=${FUZZTIME%s} ;;
*[0-9]m) total=$((${FUZZTIME%m} * 60)) ;;
*[0-9]h) total=$((${FUZZTIME%h} * 3600)) ;;
*)
	echo "FUZZTIME=$FUZZTIME is not a time: want a whole number with s, m or h, as in FUZZTIME=10m" >&2
	exit 64
	;;
esac

targets=()
while IFS=: read -r file _ name; do
	name=${name#func }
	[[ $name =~ ${MUSTER_FUZZ:-} ]] && targets+=("$(dirname "$file") $name")
done < <(grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' cmd checker conformance fuzz impl internal model | sort)
if [ ${#targets[@]} -eq 0 ]; then
	echo "no target is called ${MUSTER_FUZZ:-}: they are functions Fuzz... in _test.go files" >&2
	exit 64
fi
# What runs a whole coordinator and its specification is slow, and first tries all that it has kept from earlier: it counts as five.
weigh() { [ "$1" = FuzzEvents ] && echo 5 || echo 1; }
parts=0
for target in "${targets[@]}"; do parts=$((parts + $(weigh "${target#* }"))); done
each=$((total / parts))
[ "$each" -ge 1 ] || each=1
echo "${#targets[@]} targets, $each s each, FuzzEvents five times that; building them is not in that"

failed=() log=$(mktemp)
trap 'rm -f "$log"' EXIT
for target in "${targets[@]}"; do
	read -r dir name <<<"$target"
	printf '\n== %s in %s\n' "$name" "$dir"
	# Making a failing input small is left to the target where it can: it knows better what may be left out.
	$GO test -run '^$' -fuzz "^$name\$" -fuzztime "$((each * $(weigh "$name")))s" -fuzzminimizetime=1x "./$dir" 2>&1 | tee "$log"
	if [ "${PIPESTATUS[0]}" -ne 0 ]; then
		input=$(grep -oE "$name/[0-9a-f]+" "$log" | head -1)
		failed+=("go test ./$dir -run '^${input:-$name}\$'")
	fi
done
if [ ${#failed[@]} -gt 0 ]; then
	printf '\n%s found something. Once more, each:\n' "${#failed[@]} of ${#targets[@]} targets"
	printf '  %s\n' "${failed[@]}"
	echo "The inputs are in testdata/fuzz of the package: keep them with what mends the fault."
	exit 1
fi
