# A first boot may have no network yet, and another apt may be at work: it waits, but for so many seconds only.
apt() {
	DEBIAN_FRONTEND=noninteractive timeout "$1" apt-get -q -o Acquire::Retries=3 -o Acquire::http::Timeout=30 \
		-o DPkg::Lock::Timeout=300 -o APT::Update::Error-Mode=any "${@:2}"
}

packages() {
	local policy=$root/usr/sbin/policy-rc.d all=("${packages[@]}" chrony ethtool)
	if [ "$role" = broker ]; then
		all+=(xfsprogs)
		[ "$(disks | wc -l)" -lt 2 ] || all+=(mdadm)
	fi
	tries 6 5 apt 120 update
	# Packages of servers start them; mqbench starts brokers of its own.
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
	tries 2 5 apt 600 install -y --no-install-recommends "${all[@]}"
	rm "$policy"
}

# Containers, if a system needs them. They have the machine's own network: without a bridge and rules of a firewall, which would cost all
# brokers here time for each packet.
engine() {
	case " ${packages[*]-} " in *" docker.io "*) ;; *) return 0 ;; esac
	mkdir -p "$root/etc/docker"
	echo '{"bridge": "none", "iptables": false, "ip-forward": false}' >"$root/etc/docker/daemon.json"
	usermod -aG docker "$user"
	systemctl restart docker
	tries 6 5 docker version || fail "the Docker engine does not answer; journalctl -u docker says why"
}
