# `shutdown`, armed by the first command of all, is forgotten when the machine starts anew, and goes by a clock that may be set. A service
# takes over: it counts the time since the start, and after another start goes by the clock, too.
ttl() {
	local program=$root/usr/local/sbin/mqbench-ttl
	mkdir -p "${program%/*}" "$root/etc/systemd/system" "$root/etc/sysctl.d"
	# A machine that panics starts anew: one that stands still has no end.
	echo 'kernel.panic = 10' >"$root/etc/sysctl.d/80-mqbench-ttl.conf"
	set_to 10 "$root/proc/sys/kernel/panic"
	cat >"$program" <<-'END'
		# mqbench-ttl <boot> <seconds> <deadline>: ends this machine when it has been up for so long. In a later boot than that one
		# it also ends it at the deadline, in seconds since 1970, as nobody knows how long it was up before.
		read -r boot <"$MQBENCH_ROOT/proc/sys/kernel/random/boot_id"
		while
		read -r up _ <"$MQBENCH_ROOT/proc/uptime"
		left=$(($2 - ${up%.*}))
		if [ "$boot" != "$1" ]; then
		until=$(($3 - $(date +%s)))
		[ "$until" -gt "$left" ] || left=$until
		fi
		[ "$left" -gt 0 ]
		do
		# Somebody may set the clock meanwhile.
		[ "$boot" = "$1" ] || [ "$left" -lt 60 ] || left=60
		sleep "$left"
		done
		systemctl poweroff
		sleep 300
		poweroff --force --force
	END
	keep_end
	systemctl daemon-reload
	systemctl enable --now mqbench-ttl.service
	if systemctl is-active --quiet mqbench-ttl.service; then shutdown -c || true; fi
}

# What the service needs after another start, down to the disk: a panic comes at any moment. It is there as soon as files can be read,
# goes on in emergency mode, and comes back when it is killed.
keep_end() {
	local unit=$root/etc/systemd/system/mqbench-ttl.service seconds=$((ttl_minutes * 60)) up
	read -r up _ <"$root/proc/uptime"
	cat >"$unit.new" <<-END
		[Unit]
		DefaultDependencies=no
		After=systemd-remount-fs.service
		IgnoreOnIsolate=yes
		StartLimitIntervalSec=0
		[Service]
		ExecStart=/bin/sh /usr/local/sbin/mqbench-ttl $(cat "$root/proc/sys/kernel/random/boot_id") $seconds $(($(date +%s) + seconds - ${up%.*}))
		Restart=always
		RestartSec=5
		OOMScoreAdjust=-1000
		[Install]
		WantedBy=sysinit.target
	END
	mv "$unit.new" "$unit"
	sync
}

# Whom mqbench comes in as.
user() {
	id "$user" || fail "there is no user $user on this image; name the one that its SSH key is for"
}
