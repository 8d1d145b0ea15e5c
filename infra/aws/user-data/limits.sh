# A connection is a file. A limit that cannot be set would let nobody log in: where this shell may not have it, the highest that it may
# have is taken.
limits() {
	local wanted=1048576 most has
	if (ulimit -n "$wanted") 2>/dev/null; then most=$wanted; else most=$(ulimit -Hn); fi
	mkdir -p "$root/etc/security/limits.d"
	printf '%s - nofile %s\n' "$user" "$most" root "$most" >"$root/etc/security/limits.d/90-mqbench.conf"
	# A login, through the same PAM module as one over SSH.
	has=$(su -s /bin/sh -c 'ulimit -n' - "$user") || fail "$user cannot log in any more: $root/etc/security/limits.d/90-mqbench.conf"
	has=$(echo "$has" | tail -n 1)
	[ "$has" = "$wanted" ] || remark "$user may open $has files at once, not $wanted"
	fact nofile "$(number "$has")"
}
