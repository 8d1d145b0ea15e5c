# What the scenario asks of the machine, without a restart; what cannot be set stays, and mqbench says so when it reads it back.
machine() {
	local state set
	# Of two threads of a core one goes offline, before states are chosen for each core.
	[ -z "$smt" ] || put "$smt" "$root/sys/devices/system/cpu/smt/control"
	[ -z "$max_c_state" ] || for state in "$root"/sys/devices/system/cpu/cpu*/cpuidle/state*; do
		[ "${state##*/state}" -le "$max_c_state" ] || put 1 "$state/disable"
	done
	[ -z "$interrupt_moderation" ] || for state in "$root"/sys/class/net/*/device; do
		state=${state%/device}
		# One by one: a card that lacks one of them would take none.
		for set in "adaptive-rx off" "adaptive-tx off" "rx-usecs 0" "tx-usecs 0"; do
			# shellcheck disable=SC2086 # Two words.
			ethtool -C "${state##*/}" $set || true
		done
	done
}

put() {
	[ ! -e "$2" ] || echo "$1" >"$2" || true
}
