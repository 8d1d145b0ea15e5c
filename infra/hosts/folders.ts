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
	remove(): Promise<void>;
}

/** Makes them; they go with `remove`, or with the next mqbench that comes there if this one was killed. */
export async function makeFolders(
	host: SshHost,
	link: Link,
): Promise<RunFolders> {
	const made = await link.run(MAKE, [String(link.holder)]);
	const { control, store, memory = null, free } = made.values;
	const all = [control, store, memory].filter(
		(one): one is string => typeof one === "string" && one !== "",
	);
	const remove = async () => {
		if (all.length > 0) await link.run(REMOVE, all);
	};
	if (made.code !== 0 || !control || !store) {
		await remove().catch(() => {});
		throw unwritable(
			host,
			control ? (made.values.parent ?? "its store") : "~/.cache/mqbench",
			made.err,
		);
	}
	return {
		control,
		store,
		memory,
		memoryBytes: memory === null || !free ? null : Number(free) * 1024,
		remove,
	};
}

/** Removes folders whose mqbench is gone, and what it ran: with it went the process that holds its connection. */
export async function sweepFolders(link: Link): Promise<void> {
	await link.run(SWEEP);
}

// --- internal ---

/** Where stores are: on the disk that mqbench's set-up has prepared, if this user owns it, else at home. */
const STORE =
	's=/var/lib/mqbench/store; [ -d "$s" ] && [ -O "$s" ] && [ -w "$s" ] || s="$PWD/.cache/mqbench/store"';

/** Process table and host that own it are in its name: homes and memory may be shared. */
const OWN =
	'o="mqbench+$(uname -n)+$(readlink /proc/self/ns/pid | tr -dc 0-9)"';

/** $1 process that owns them. */
const MAKE = `echo; umask 077; cd && ${STORE} && ${OWN}; n="$o@$1@XXXXXX"; mkdir -p .cache/mqbench/runs && c=$(mktemp -d "$PWD/.cache/mqbench/runs/$n") || exit 1; echo "mqbench:control=$c"; echo "mqbench:parent=$s"; mkdir -p "$s" && s=$(mktemp -d "$s/$n") || exit 1; echo "mqbench:store=$s"; if [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] && m=$(mktemp -d "/dev/shm/$n" 2>/dev/null); then echo "mqbench:memory=$m"; echo "mqbench:free=$(df -Pk /dev/shm | { read -r _; read -r _ _ _ f _; echo "$f"; })"; fi`;

/** What a broker that was killed a moment ago still writes is removed as well. */
const REMOVE =
	'for d in "$@"; do rm -rf -- "$d" 2>/dev/null || { sleep 1; rm -rf -- "$d"; }; done';

/** $1 control folder whose mqbench is gone: what of it still goes down is killed, as it holds the ports of the next one. */
const END =
	'end() { for f in "$1"/guard-*; do g=$(cat "$f" 2>/dev/null) && grep -q guard "/proc/$g/cmdline" 2>/dev/null || continue; for c in $(cat /proc/"$g"/task/*/children 2>/dev/null); do kill -s KILL -- "-$c"; done; i=0; while kill -0 "$g" 2>/dev/null && [ $i -lt 30 ]; do sleep 0.1 2>/dev/null || sleep 1; i=$((i+1)); done; done; }';

/** Those of this host whose owner is gone, and those of any host in which nothing has changed for a day. */
const SWEEP = `cd && ${STORE} && ${OWN}; ${END}; for p in "$PWD/.cache/mqbench/runs" "$s" /dev/shm; do cd "$p" 2>/dev/null || continue; for d in "$o"@*; do [ -d "$d" ] && ! kill -0 "$(echo "$d" | cut -d@ -f2)" 2>/dev/null && end "$d" && rm -rf -- "$d"; done; for d in mqbench+*@*@*; do [ -d "$d" ] && [ -z "$(find "$d" -mtime -1 | head -n 1)" ] && rm -rf -- "$d" 2>/dev/null; done; done; true`;
