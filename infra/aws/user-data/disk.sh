# Chooses the disk that is measured before anything takes time: the machine's own NVMe, or the volume that was attached to it.
disk() {
	[ "$role" = broker ] || return 0
	if mountpoint -q "$store"; then
		echo "$store is there"
		return
	fi
	local kind=nvme-Amazon_EC2_NVMe_Instance_Storage seconds=10
	# A volume may be attached while the machine starts.
	[ "$volume" = no ] || kind=nvme-Amazon_Elastic_Block_Store_vol seconds=60
	tries "$seconds" 1 choose "$kind" || fail "$(none "$kind")"
	echo "taken: $(paste -sd ' ' "$base/disks")"
}

# Keeps the empty ones: of the machine's own all, as all are paid for; of volumes the first.
choose() {
	local device
	: >"$base/disks"
	for device in $(disks "$1"); do
		[ -z "$(holds "$device")" ] || continue
		echo "$device" >>"$base/disks"
		[ "$volume" = no ] || break
	done
	[ -s "$base/disks" ]
}

# Devices of a kind. Each has several names in that folder, and so have its partitions.
disks() {
	local link
	for link in "$root/dev/disk/by-id/$1"*; do
		case $link in *-part[0-9]*) ;; *) readlink -e "$link" || true ;; esac
	done | sort -Vu
}

# What speaks against formatting a device; empty: nothing.
holds() {
	local at found code=0
	at=$(lsblk -nlo MOUNTPOINTS "$1") || at="a place unknown"
	at=$(echo "$at" | grep -m 1 . || true)
	if [ -n "$at" ]; then
		echo "$1 is mounted at $at"
		return
	fi
	if ! head -c 1048576 "$1" >/dev/null; then
		echo "$1 cannot be read"
		return
	fi
	# Only 2 says that there is neither file system nor partition, RAID nor LVM.
	found=$(blkid -p -o value -s TYPE -s PTTYPE "$1" | paste -sd ' ') || code=$?
	[ "$code" = 2 ] && [ -z "$found" ] || echo "$1 holds ${found:-what blkid cannot tell}"
}

none() {
	local found
	found=$(for device in $(disks "$1"); do holds "$device"; done | paste -sd ';' | sed 's/;/; /g')
	if [ "$volume" = no ]; then
		echo "no empty NVMe of its own (${found:-none at all}); choose an instance type that has some (i4i, i3en, m6id, ...), or give the brokers a volume"
	else
		echo "no empty volume is attached (${found:-none at all}); is it attached in the zone of this machine, and new?"
	fi
}

# xfs keeps its latency when many write; reading writes nothing.
store() {
	local device devices=() uuid
	mkdir -p "$store"
	if [ "$role" = broker ] && ! mountpoint -q "$store"; then
		mapfile -t devices <"$base/disks"
		# Once more, as late as can be. Without -f mkfs.xfs itself refuses what is in use.
		for device in "${devices[@]}"; do
			[ -z "$(holds "$device")" ] || fail "$(holds "$device"): it is not formatted"
		done
		if [ ${#devices[@]} -gt 1 ]; then
			device=$root/dev/md0
			# --run: it asks nobody.
			mdadm --create "$device" --run --level=0 --raid-devices=${#devices[@]} "${devices[@]}"
		fi
		mkfs.xfs -q "$device"
		uuid=$(blkid -p -o value -s UUID "$device")
		# Without its disk the machine is to come up all the same, so that people can look.
		echo "UUID=$uuid $store xfs noatime,nofail 0 0" >>"$root/etc/fstab"
		mount -t xfs -o noatime "$device" "$store"
	fi
	chown "$user:" "$store"
	chmod 700 "$store"
	device=$(findmnt -nvo SOURCE --target "$store" | tail -n 1)
	fact disk "{\"device\": $(text "$device"), \"model\": $(text "$(ask MODEL "$device")"), \"bytes\": $(
		number "$(ask SIZE "$device")"
	), \"fs\": $(text "$(findmnt -nvo FSTYPE --target "$store" | tail -n 1)"), \"disks\": [$(
		for device in "${devices[@]}"; do text "${device##*/}"; echo; done | paste -sd ,
	)]}"
}

# A partition has the model of its disk. Not every file system has a device.
ask() {
	{ lsblk -bsnlo "$1" "$2" 2>/dev/null || true; } | { grep -m 1 '[^ ]' || true; } | sed 's/^ *//; s/ *$//'
}
