# `shutdown`, armed by the first command of all, is forgotten when the machine starts anew, and goes by a clock that may be set. A service
# takes over: it counts the minutes that are left, on the disk, so that every boot goes on from there and no clock matters.
ttl() {
	local program=$root/usr/local/sbin/mqbench-ttl
	mkdir -p "${program%/*}" "$root/etc/systemd/system" "$root/etc/sysctl.d"
	# A machine that panics starts anew: one that stands still has no end.
	echo 'kernel.panic = 10' >"$root/etc/sysctl.d/80-mqbench-ttl.conf"
	set_to 10 /proc/sys/kernel/panic
	echo "$ttl_minutes" >"$base/minutes-left"
	cat >"$program" <<-'END'
		# Ends this machine when no minute is left. A minute is taken before it passes, so that a machine that panics at each start ends, too;
		# and one whose disk cannot be written or read ends as well. Only the first waits for the disk, not those in mid-run.
		file=$MQBENCH_ROOT/var/lib/mqbench/minutes-left
		sync=sync
		read -r left <"$file"
		while [ "${left:-0}" -gt 0 ]; do
			left=$((left - 1))
			echo "$left" >"$file.new" && mv "$file.new" "$file" && $sync "$file"
			sync=:
			sleep 60
		done
		systemctl poweroff
		sleep 300
		poweroff --force --force
	END
	# It is there as soon as files can be read, goes on in emergency mode, and comes back when it is killed.
	cat >"$root/etc/systemd/system/mqbench-ttl.service" <<-'END'
		[Unit]
		DefaultDependencies=no
		After=systemd-remount-fs.service
		IgnoreOnIsolate=yes
		StartLimitIntervalSec=0
		[Service]
		ExecStart=/bin/sh /usr/local/sbin/mqbench-ttl
		Restart=always
		RestartSec=5
		OOMScoreAdjust=-1000
		[Install]
		WantedBy=sysinit.target
	END
	systemctl daemon-reload
	systemctl enable --now mqbench-ttl.service
	# A panic comes at any moment.
	sync
	if systemctl is-active --quiet mqbench-ttl.service; then shutdown -c || true; fi
}
