import type { SshHost } from "../clients/ssh-host.ts";
import type { Link } from "../clients/ssh-link.ts";
import { unwritable } from "../clients/ssh-trouble.ts";

/** Folders of one run on a host. */
export interface RunFolders {
	/** What mqbench keeps of it there. */
	readonly control: string;
	/** On the disk that is measured, empty. */
	readonly store: string;
	/** In memory, empty, and how many bytes are free there; null: the host has no such place. */
	readonly memory: string | null;
	readonly memoryBytes: number | null;
	/** Whether another mqbench has a run on the host at this moment. */
	shared(): Promise<boolean>;
	/** Fails with a sentence where something of it stays. */
	remove(): Promise<void>;
}

/** Where stores are: on the disk that mqbench's set-up has prepared. */
export const PREPARED = "/var/lib/mqbench/store";

/** Makes them, `store` below the folder of that name; they go with `remove`, or with the next mqbench that comes there if this one was killed. */
export async function makeFolders(
	host: SshHost,
	link: Link,
	store: string,
): Promise<RunFolders> {
	const made = await link.run(MAKE, [String(link.holder), store]);
	const { control, store: own, memory = null, free } = made.values;
	const all = [control, own, memory].filter(
		(one): one is string => typeof one === "string" && one !== "",
	);
	const remove = async () => {
		if (all.length === 0) return;
		const { code, err } = await link.run(REMOVE, all);
		if (code !== 0) throw unwritable(host, own ?? "its store", err, "store");
	};
	if (made.code !== 0 || !control || !own) {
		await remove().catch(() => {});
		throw control
			? unwritable(host, store, made.err, "store")
			: unwritable(host, "~/.cache/mqbench", made.err);
	}
	return {
		control,
		store: own,
		memory,
		memoryBytes: memory === null || !free ? null : Number(free) * 1024,
		async shared() {
			const { values } = await link.run(SHARED, [String(link.holder), store]);
			return values.shared === "yes";
		},
		remove,
	};
}

/** Removes folders whose mqbench is gone, and what it ran: with it went the process that holds its connection. */
export async function sweepFolders(link: Link): Promise<void> {
	await link.run(SWEEP);
}

// --- internal ---

/**
 * Process table, host and its start that own it are in its name: homes and memory may be shared, and after a start processes have the numbers of
 * others.
 */
const OWN =
	'h="mqbench+$(uname -n)+$(readlink /proc/self/ns/pid | tr -dc 0-9)"; o="$h+$(cut -c1-8 2>/dev/null </proc/sys/kernel/random/boot_id)"';

/** $1 process that owns them, $2 where stores are. */
const MAKE = `echo; umask 077; cd && ${OWN}; s=$2 n="$o@$1@XXXXXX"; mkdir -p .cache/mqbench/runs && c=$(mktemp -d "$PWD/.cache/mqbench/runs/$n") || exit 1; echo "mqbench:control=$c"; mkdir -p "$s" && s=$(mktemp -d "$s/$n") || exit 1; echo "mqbench:store=$s"; if [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] && m=$(mktemp -d "/dev/shm/$n" 2>/dev/null); then echo "mqbench:memory=$m"; echo "mqbench:free=$(df -Pk /dev/shm | { read -r _; read -r _ _ _ f _; echo "$f"; })"; fi`;

/** $1 process that owns ours, $2 where stores are. Another user's home is closed, and memory and a store of all are not; nor are processes. */
const SHARED = `cd && ${OWN}; for p in "$PWD/.cache/mqbench/runs" "$2" /dev/shm; do for d in "$p/$o"@*; do [ -d "$d" ] && g=$(echo "\${d##*/}" | cut -d@ -f2) && [ "$g" != "$1" ] && [ -d "/proc/$g" ] && { echo; echo mqbench:shared=yes; exit 0; }; done; done; true`;

/** What a broker that was killed a moment ago still writes is removed as well. */
const REMOVE =
	's=0; for d in "$@"; do rm -rf -- "$d" 2>/dev/null || { sleep 1; rm -rf -- "$d" || s=1; }; done; exit $s';

/** $1 control folder whose mqbench is gone: what of it still goes down is killed, as it holds the ports of the next one. */
const END =
	'end() { for f in "$1"/agent-*; do g=$(cat "$f" 2>/dev/null) && grep -q agent "/proc/$g/cmdline" 2>/dev/null || continue; for c in $(cat /proc/"$g"/task/*/children 2>/dev/null); do kill -s KILL -- "-$c"; done; i=0; while kill -0 "$g" 2>/dev/null && [ $i -lt 30 ]; do sleep 0.1 2>/dev/null || sleep 1; i=$((i+1)); done; done; }';

/** Those of this host whose owner is gone, all of its earlier starts included, and those of any host in which nothing has changed for a day. */
const SWEEP = `cd && ${OWN}; ${END}; for p in "$PWD/.cache/mqbench/runs" "$PWD/.cache/mqbench/store" ${PREPARED} /dev/shm; do cd "$p" 2>/dev/null || continue; for d in "$o"@*; do [ -d "$d" ] && [ ! -d "/proc/$(echo "$d" | cut -d@ -f2)" ] && end "$d" && rm -rf -- "$d" 2>/dev/null; done; for d in "$h"+*@*; do case $d in "$o"@*) ;; *) [ -d "$d" ] && rm -rf -- "$d" 2>/dev/null;; esac; done; for d in mqbench+*@*@*; do [ -d "$d" ] && [ -z "$(find "$d" -mtime -1 | head -n 1)" ] && rm -rf -- "$d" 2>/dev/null; done; done; true`;
