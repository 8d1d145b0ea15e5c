# What a virtual machine does not let anybody set stays as it is, and the facts say how it is.
tuning() {
	governor
	kernel_settings
	huge_pages
}

# A core that has to wake up first adds that to every message.
governor() {
	local file had=
	for file in "$root"/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do
		[ -e "$file" ] || continue
		set_to performance "$file"
		had=$(cat "$file")
	done
	fact governor "$(text "$had")"
}

kernel_settings() {
	local file=$root/etc/sysctl.d/90-mqbench.conf name value path comma=
	mkdir -p "${file%/*}"
	cat >"$file" <<-'END'
		# Clients that connect all at once wait instead of being refused.
		net.core.somaxconn = 65535
		net.ipv4.tcp_max_syn_backlog = 65535
		# What a fast network card brings at once is not thrown away.
		net.core.netdev_max_backlog = 65536
		# 25 Gbit/s for 20 ms.
		net.core.rmem_max = 67108864
		net.core.wmem_max = 67108864
		net.ipv4.tcp_rmem = 4096 131072 67108864
		net.ipv4.tcp_wmem = 4096 65536 67108864
		# After a pause a connection goes on as fast as before it.
		net.ipv4.tcp_slow_start_after_idle = 0
		# What a broker keeps in memory stays there.
		vm.swappiness = 1
		# Kafka maps two files a segment.
		vm.max_map_count = 262144
		# Redis forks to rewrite its log: memory that is shared then need not be there twice.
		vm.overcommit_memory = 1
	END
	fact sysctl "{$(sed -n 's/ = /=/p' "$file" | while IFS='=' read -r name value; do
		path=$root/proc/sys/${name//./\/}
		[ "$(as_words "$path")" = "$value" ] || set_to "$value" "$path" >&2
		printf '%s%s: %s' "$comma" "$(text "$name")" "$(text "$(as_words "$path")")"
		comma=', '
	done)}"
}

# For who asks for them: a heap that is asked to use them does; Redis, which stalls on them, has none.
huge_pages() {
	local file=$root/sys/kernel/mm/transparent_hugepage/enabled
	case $(as_words "$file") in '' | *'[madvise]'*) ;; *) set_to madvise "$file" ;; esac
	fact hugePages "$(text "$(as_words "$file")")"
}

as_words() {
	local words
	if [ -r "$1" ]; then
		read -r -a words <"$1" || true
		echo "${words[*]}"
	fi
}

set_to() {
	{ echo "$1" >"$2"; } 2>/dev/null || remark "${2#"$root"} cannot be set to $1 here"
}
