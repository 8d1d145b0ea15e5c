# `shutdown`, armed by the first command of all, is forgotten when the machine starts anew: a timer ends it then, at the same moment.
ttl() {
	local units=$root/etc/systemd/system at
	at=$(date -u -d "+$ttl_minutes minutes" '+%F %T UTC')
	mkdir -p "$units"
	cat >"$units/mqbench-ttl.service" <<-END
		[Service]
		Type=oneshot
		ExecStart=systemctl poweroff
	END
	cat >"$units/mqbench-ttl.timer" <<-END
		[Timer]
		OnCalendar=$at
		Persistent=yes
		[Install]
		WantedBy=timers.target
	END
	systemctl daemon-reload
	systemctl enable --now mqbench-ttl.timer
}

# Whom mqbench comes in as.
user() {
	id "$user" || fail "there is no user $user on this image; name the one that its SSH key is for"
}
