# Sourced by the test scripts: runs the parts of a suite one after the other, prints the seconds that each takes and sums up.

GO=${GO:-go}
failed=() summary=() missing=()

# part NAME BUDGET COMMAND... runs one part. BUDGET is in seconds; exceeding it is told, not failed: machines differ.
# With MUSTER_PARTS, a regular expression, only the parts whose names match are run: one that failed can be tried alone.
part() {
	local name=$1 budget=$2 begin=$SECONDS took verdict=ok
	shift 2
	if [[ ! $name =~ ${MUSTER_PARTS:-} ]]; then
		not_run "$name" "not one of MUSTER_PARTS='$MUSTER_PARTS'"
		return
	fi
	printf '\n== %s\n' "$name"
	"$@" || { verdict=FAILED; failed+=("$name"); }
	took=$((SECONDS - begin))
	[ "$took" -le "$budget" ] || verdict+=", over its budget"
	summary+=("$(printf '%-34s %4d s of %4d s  %s' "$name" "$took" "$budget" "$verdict")")
}

# not_run NAME WHY tells of a part that was not run: what this machine cannot do, or what was not asked for.
not_run() {
	missing+=("$1: $2")
	summary+=("$(printf '%-34s %s' "$1" 'not run')")
}

# have_kafka reports whether real brokers can be started here, and says how to get what is missing.
have_kafka() {
	local lacking=()
	"${JAVA_HOME:+$JAVA_HOME/bin/}java" -version >/dev/null 2>&1 || lacking+=("a JDK 17 or later")
	[ -n "${KAFKA_HOME:-}" ] || mvn -v >/dev/null 2>&1 || lacking+=("Maven, or KAFKA_HOME")
	[ ${#lacking[@]} -eq 0 ] && return 0
	local IFS=,
	echo "real Kafka needs ${lacking[*]} (Debian: apt-get install openjdk-17-jdk-headless maven; macOS: brew install openjdk maven)"
	return 1
}

# finish prints the summary and ends the script.
finish() {
	printf '\n== seconds\n'
	printf '%s\n' "${summary[@]}"
	printf 'in all %d s\n' "$SECONDS"
	if [ ${#missing[@]} -gt 0 ]; then
		printf '\n%d part(s) were not run:\n' "${#missing[@]}"
		printf '  %s\n' "${missing[@]}"
	fi
	if [ ${#failed[@]} -gt 0 ]; then
		printf '\nFAILED: %s\n' "${failed[*]}" >&2
		exit 1
	fi
}
