# Words of programs are the same everywhere.
export LC_ALL=C
# Tests put a folder in front of everything.
root=${MQBENCH_ROOT:-}
# What the set-up says of itself: state (one line), set-up.log, facts.json.
base=$root/var/lib/mqbench
log=$base/set-up.log
# The folder on the disk that is measured.
store=$base/store

# What mqbench waits for: "running: <step>", "ready", or "failed: <step>: <last words>". Nobody reads half of it.
state() {
	echo "$1" >"$base/state.new"
	mv "$base/state.new" "$base/state"
}

# Runs functions in turn, each in a shell of its own, which the first command that fails ends. Nothing runs after a step that failed; the
# machine stays until its time is over, so that people can look.
run_steps() {
	trap failed EXIT
	for step in "$@"; do
		state "running: $step"
		echo "--- $step $(date -u +%FT%TZ)" >>"$log"
		code=
		(
			set -euo pipefail
			"$step"
		) >>"$log" 2>&1 </dev/null
		code=$?
		[ "$code" = 0 ] || exit 1
	done
	trap - EXIT
	state ready
}

# Whoever ends the set-up leaves no "running" behind. Its last words are the last line of the log, if the step has written one.
failed() {
	local words="ended from outside"
	[ -z "$code" ] || words=$(tr -c '\n -~' ' ' <"$log" | grep '[^ ]' | tail -n 1 | cut -c 1-300)
	case $words in "--- $step "*) words="exit code $code" ;; esac
	state "failed: $step: $words"
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

set_to() {
	{ echo "$1" >"$root$2"; } 2>/dev/null || remark "$2 cannot be set to $1 here"
}

# What reports should say of this machine, a sentence: not as asked for, but no mistake.
remark() {
	echo "$1"
	text "$1" >>"$base/remarks"
	echo >>"$base/remarks"
}

# A JSON string of what is printable, without quotes, backslashes and the spaces behind it.
text() {
	printf '"%s"' "$(printf %s "$1" | tr -cd ' !#-[]-~' | sed 's/ *$//')"
}

facts() {
	local governor=$root/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
	[ -e "$governor" ] || governor=/dev/null
	printf '{ "governor": %s, "disk": %s, "remarks": [%s] }\n' \
		"$(text "$(cat "$governor")")" "$(cat "$base/disk")" "$(paste -sd , "$base/remarks")" >"$base/facts.json"
}
