# Containers, if a system needs them. They have the machine's own network: without a bridge and rules of a firewall, which would cost all
# brokers here time for each packet.
engine() {
	case " ${packages[*]-} " in *" docker.io "*) ;; *) return 0 ;; esac
	mkdir -p "$root/etc/docker"
	echo '{"bridge": "none", "iptables": false, "ip-forward": false}' >"$root/etc/docker/daemon.json"
	usermod -aG docker "$user"
	systemctl enable --now docker
	tries 6 5 docker version || fail "the Docker engine does not answer; journalctl -u docker says why"
}
