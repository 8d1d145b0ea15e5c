# Nothing wakes up in mid-run to install, index or trim.
quiet() {
	# A timer may have started its service already. An apt that is at work ends its package, and the step packages waits for it.
	local units=(apt-daily.timer apt-daily-upgrade.timer apt-daily.service apt-daily-upgrade.service unattended-upgrades.service
		man-db.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer logrotate.timer)
	# Not every image has each of them.
	systemctl stop "${units[@]}" || true
	systemctl mask "${units[@]}" || remark "timers cannot be masked: they may wake up in mid-run"
}

# All of it is forgotten when the machine starts anew.
tuning() {
	local file
	# A core that has to wake up first adds that to every message.
	for file in "$root"/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do
		[ ! -e "$file" ] || set_to performance "${file#"$root"}"
	done
	# A heap that asks for huge pages gets them; Redis, which stalls on them, does not.
	set_to madvise /sys/kernel/mm/transparent_hugepage/enabled
	# Clients that connect all at once wait instead of being refused.
	set_to 65535 /proc/sys/net/core/somaxconn
	set_to 65535 /proc/sys/net/ipv4/tcp_max_syn_backlog
	# What a fast network card brings at once is not thrown away.
	set_to 65536 /proc/sys/net/core/netdev_max_backlog
	# 25 Gbit/s for 20 ms.
	set_to 67108864 /proc/sys/net/core/rmem_max
	set_to 67108864 /proc/sys/net/core/wmem_max
	set_to '4096 131072 67108864' /proc/sys/net/ipv4/tcp_rmem
	set_to '4096 65536 67108864' /proc/sys/net/ipv4/tcp_wmem
	# After a pause a connection goes on as fast as before it.
	set_to 0 /proc/sys/net/ipv4/tcp_slow_start_after_idle
	# What a broker keeps in memory stays there.
	set_to 1 /proc/sys/vm/swappiness
	# Kafka maps two files a segment.
	set_to 262144 /proc/sys/vm/max_map_count
	# Redis forks to rewrite its log: memory that is shared then need not be there twice.
	set_to 1 /proc/sys/vm/overcommit_memory
}

# A connection is a file. With a limit that this shell may not have, nobody could log in: it is the highest that it may have, then.
limits() {
	local most
	most=$(ulimit -n 1048576 2>/dev/null || ulimit -n "$(ulimit -Hn)"; ulimit -n)
	mkdir -p "$root/etc/security/limits.d"
	printf '%s - nofile %s\n' "$user" "$most" root "$most" >"$root/etc/security/limits.d/90-mqbench.conf"
}

# Amazon's own time, over the link-local address. The image's other sources stay.
clock() {
	mkdir -p "$root/etc/chrony/conf.d"
	echo 'server 169.254.169.123 prefer iburst minpoll 4 maxpoll 4' >"$root/etc/chrony/conf.d/mqbench.conf"
	systemctl restart chrony
	# Without it whatever goes from one machine to another cannot be timed, but everything else can: no mistake.
	chronyc waitsync 60 0.001 0 1 ||
		remark "the clock did not synchronise within a minute: times between machines mean nothing"
}
