# Words of programs are the same everywhere.
export LC_ALL=C
# Tests put a folder in front of everything.
root=${MQBENCH_ROOT:-}
base=$root/var/lib/mqbench
store=$base/store
log=$base/set-up.log
step=none

# What mqbench waits for, one line: "running: <step>", "ready", or "failed: <step>: <last words>". Nobody reads half of it.
state() {
	printf '%s\n' "$1" >"$base/state.new"
	mv "$base/state.new" "$base/state"
}

# Runs functions in turn, each in a shell of its own, which the first command that fails ends. Nothing runs after a step that failed; the
# machine stays until its TTL, so that people can look.
run_steps() {
	local from code
	trap unless_over EXIT
	for step in "$@"; do
		state "running: $step"
		echo "--- $step $(date -u +%FT%TZ)" >>"$log"
		from=$(wc -c <"$log")
		(
			set -euo pipefail
			"$step"
		) >>"$log" 2>&1 </dev/null
		code=$?
		[ "$code" = 0 ] || fail_step "$(last_words "$from")" "$code"
	done
	state ready
}

fail_step() {
	state "failed: $step: ${1:-exit code $2}"
	exit 1
}

# The last line with something in it that the log has got after so many bytes.
last_words() {
	tail -c "+$(($1 + 1))" "$log" | tr '\000-\011\013-\037\177' ' ' | grep '[^ ]' | tail -n 1 | cut -c 1-300
}

# Whoever ends this script leaves no "running" behind.
unless_over() {
	case $(cat "$base/state") in running:*) state "failed: $step: the set-up was ended from outside" ;; esac
}

# Ends a step with words for people.
fail() {
	echo "$1"
	exit 1
}

# Tries something at most so many times, with so many seconds in between.
tries() {
	local left=$1 pause=$2
	shift 2
	until "$@"; do
		left=$((left - 1))
		[ "$left" -gt 0 ] || return 1
		sleep "$pause"
	done
}
