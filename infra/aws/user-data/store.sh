# Disks to measure on, empty ones alone: of the machine's own NVMe all, as all are paid for; of volumes the first.
disks() {
	local kind=nvme-Amazon_EC2_NVMe_Instance_Storage most=99 link code
	[ "$volume" = no ] || kind=nvme-Amazon_Elastic_Block_Store_vol most=1
	# A disk has several names in that folder, and so have its partitions.
	for link in "$root/dev/disk/by-id/$kind"*; do
		case $link in *-part[0-9]*) continue ;; esac
		code=0
		blkid -p "$link" >&2 || code=$?
		# Only 2 says that there is neither file system nor partition, RAID nor LVM.
		[ "$code" != 2 ] || readlink -e "$link" || true
	done | sort -Vu | sed "${most}q"
}

no_disk() {
	if [ "$volume" = no ]; then
		fail "no empty NVMe of its own; choose an instance type that has some (i4i, i3en, m6id, ...), or give the brokers a volume"
	fi
	fail "no empty volume is attached; is it attached in the zone of this machine, and new?"
}

# The folder for what is measured, for its user alone. xfs keeps its latency when many write; reading writes nothing. After another start
# a broker's disk is not there, so that nobody measures on another one by mistake.
store() {
	local devices device
	mkdir -p "$store"
	if [ "$role" = broker ]; then
		# A volume may be attached while the machine starts.
		tries 30 1 some_disk || no_disk
		mapfile -t devices < <(disks)
		device=${devices[0]}
		if [ ${#devices[@]} -gt 1 ]; then
			device=$root/dev/md0
			# --run: it asks nobody.
			mdadm --create "$device" --run --level=0 --raid-devices=${#devices[@]} "${devices[@]}"
		fi
		mkfs.xfs -q "$device"
		mount -t xfs -o noatime "$device" "$store"
		printf '{ "model": %s, "fs": "xfs", "disks": [%s] }' "$(text "$(lsblk -dno MODEL "${devices[0]}")")" "$(
			for device in "${devices[@]}"; do text "${device##*/}"; echo; done | paste -sd ,
		)" >"$base/disk"
	fi
	chown "$user:" "$store"
	chmod 700 "$store"
}

some_disk() {
	[ -n "$(disks)" ]
}
