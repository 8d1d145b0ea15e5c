# A first boot may have no network yet, and another apt may be at work: it waits, but for so many seconds only.
apt() {
	DEBIAN_FRONTEND=noninteractive timeout "$1" apt-get -q -o Acquire::Retries=3 -o Acquire::http::Timeout=30 \
		-o DPkg::Lock::Timeout=300 -o APT::Update::Error-Mode=any "${@:2}"
}

packages() {
	local policy=$root/usr/sbin/policy-rc.d before=$base/packages.before all=("${packages[@]}" chrony ethtool) name comma=
	[ "$role" != broker ] || all+=(xfsprogs)
	[ "$(cat "$base/disks" 2>/dev/null | wc -l)" -lt 2 ] || all+=(mdadm)
	tries 6 5 apt 120 update
	# One that does not exist is none the second time either.
	apt 60 install --simulate --no-install-recommends "${all[@]}"
	dpkg-query -W -f '${Package}\n' | sort >"$before"
	# Packages of servers start them, and again at each boot: mqbench starts brokers of its own.
	if [ ! -e "$policy" ]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy"
		chmod 755 "$policy"
		# shellcheck disable=SC2064 # That file, whatever becomes of the name.
		trap "rm -f '$policy'" EXIT
	fi
	tries 2 5 apt 600 install -y --no-install-recommends "${all[@]}"
	dpkg-query -W -f '${Package}\n' | sort | comm -13 "$before" - | while read -r name; do disable "$name"; done
	fact packages "{$(for name in "${all[@]}"; do
		printf '%s%s: %s' "$comma" "$(text "$name")" "$(text "$(dpkg-query -W -f '${Version}' "$name")")"
		comma=', '
	done)}"
}

# A package's own services and sockets do not come up with the machine. chrony's is wanted.
disable() {
	local unit
	[ "$1" != chrony ] || return 0
	dpkg-query -L "$1" | sed -n 's,.*/lib/systemd/system/\([^/]*\.\(service\|socket\|timer\)\)$,\1,p' | while read -r unit; do
		systemctl disable "$unit" || echo "$unit cannot be disabled"
	done
}
