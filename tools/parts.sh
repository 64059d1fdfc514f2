# Sourced by the test scripts: runs the parts of a suite one after the other, prints the seconds that each takes and sums up.

GO=${GO:-go}
failed=() summary=() missing=()

# Tests of checker/linearize that judge thousands of histories: make test-judges has them, make test has not.
SLOW_HISTORIES='^Test(BrokenRulesAreNoticed|FailuresAreMadeSmall|MutatedHistoriesAreIllegal|SecondOpinion|TimedAgreement)$'

# part NAME BUDGET COMMAND... runs one part. BUDGET is in seconds; exceeding it is told, not failed: machines differ.
# With MUSTER_PARTS, a regular expression, only the parts whose names match are run: one that failed can be tried alone.
part() {
	local name=$1 budget=$2 begin=$SECONDS status=0
	shift 2
	wanted "$name" || return 0
	printf '\n== %s\n' "$name"
	"$@" || status=$?
	ended "$name" "$budget" $((SECONDS - begin)) "$status"
}

wanted() {
	[[ $1 =~ ${MUSTER_PARTS:-} ]] && return
	not_run "$1" "not one of MUSTER_PARTS='$MUSTER_PARTS'"
	return 1
}

# ended NAME BUDGET TOOK STATUS adds a part to the sum.
ended() {
	local verdict=ok
	[ "$4" -eq 0 ] || { verdict=FAILED; failed+=("$1"); }
	[ "$3" -le "$2" ] || verdict+=", over its budget"
	summary+=("$(printf '%-34s %4d s of %4d s  %s' "$1" "$3" "$2" "$verdict")")
}

# beside NAME BUDGET COMMAND... begins a part that only takes the processor and gives way to whatever else wants it. `join` waits for it, and prints what it
# printed. It is a process group of its own, which ends with the script.
beside() {
	aside=
	wanted "$1" || return 0
	aside_name=$1 aside_budget=$2 aside_log=$(mktemp)
	shift 2
	set -m
	(
		renice -n 19 -p "$BASHPID" >/dev/null
		begin=$SECONDS status=0
		"$@" || status=$?
		printf '\n%d\n' $((SECONDS - begin))
		exit "$status"
	) >"$aside_log" 2>&1 &
	aside=$!
	set +m
	trap 'kill -- "-$aside" 2>/dev/null' EXIT
}

join() {
	[ -n "$aside" ] || return 0
	local status=0
	wait "$aside" || status=$?
	trap - EXIT
	printf '\n== %s\n' "$aside_name"
	head -n -2 "$aside_log"
	ended "$aside_name" "$aside_budget" "$(tail -n 1 "$aside_log")" "$status"
	rm -f "$aside_log"
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
