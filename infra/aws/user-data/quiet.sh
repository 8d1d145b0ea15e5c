# Nothing wakes up in mid-run to install, index or trim.
quiet() {
	local unit
	# A timer may have started its service already: both are stopped, the timer first. An apt that is at work ends its package, and the
	# step packages waits for it.
	for unit in apt-daily.timer apt-daily-upgrade.timer apt-daily.service apt-daily-upgrade.service unattended-upgrades.service \
		man-db.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer logrotate.timer; do
		# Not every image has each of them.
		systemctl stop "$unit" || true
		systemctl mask "$unit" || remark "$unit cannot be masked: it may wake up in mid-run"
	done
	mkdir -p "$root/etc/apt/apt.conf.d"
	echo 'APT::Periodic::Enable "0";' >"$root/etc/apt/apt.conf.d/99mqbench"
}
