import type { RemoteHost } from "./host.ts";
import type { Link } from "./link.ts";
import { unwritable } from "./trouble.ts";

/** Folders of one run of a broker on a machine. */
export interface RunFolders {
	/** mqbench's own files there. */
	readonly control: string;
	/** Empty, on the disk that is measured. */
	readonly store: string;
	/** Empty, in memory, with the number of free bytes; null if the host has no such place. */
	readonly memory: { readonly folder: string; readonly freeBytes: number } | null;
	/** Whether another mqbench has a broker on the machine now. */
	shared(): Promise<boolean>;
	/** Fails with a sentence if something stays. */
	remove(): Promise<void>;
}

/** The folder for stores, on the disk that mqbench's set-up has prepared. */
export const PREPARED = "/var/lib/mqbench/store";

/** Makes the folders, with `store` below the folder of that name. `remove` removes them, or the next mqbench there if this one was killed. */
export async function makeFolders(
	host: RemoteHost,
	link: Link,
	store: string,
): Promise<RunFolders> {
	const made = await link.run(MAKE, [String(link.holder), store]);
	const { control, store: own, memory, free } = made.values;
	const remove = () => removeFolders(host, link, [control, own, memory]);
	if (made.code !== 0 || !control || !own) {
		await remove().catch(() => {});
		throw unwritable(host, control ? store : CACHE, made.err, control ? "store" : "programs");
	}
	return {
		control,
		store: own,
		memory: memory ? { folder: memory, freeBytes: Number(free) * 1024 } : null,
		async shared() {
			const { values } = await link.run(SHARED, [String(link.holder), store]);
			return values.shared === "yes";
		},
		remove,
	};
}

/** Makes only a control folder, and returns its path. */
export async function makeFolder(host: RemoteHost, link: Link): Promise<string> {
	const { code, values, err } = await link.run(MAKE, [String(link.holder), ""]);
	if (code !== 0 || !values.control) throw unwritable(host, CACHE, err);
	return values.control;
}

/** Removes the existing ones of these. Fails with a sentence if something stays. */
export async function removeFolders(
	host: RemoteHost,
	link: Link,
	folders: readonly (string | undefined)[],
): Promise<void> {
	const { code, err } = await link.run(REMOVE, folders.filter((one) => one) as string[]);
	if (code !== 0) throw unwritable(host, "its store", err, "store");
}

/** Removes folders of mqbench processes that are gone, and ends their programs: the process that holds their connection is gone, too. */
export async function sweepFolders(link: Link): Promise<void> {
	await link.run(SWEEP);
}

// --- internal ---

const CACHE = "~/.cache/mqbench";

/**
 * The name contains process table, host and its last start: home folders and memory may be shared, and after a restart other processes have the
 * same numbers.
 */
const OWN =
	'h="mqbench+$(uname -n)+$(readlink /proc/self/ns/pid | tr -dc 0-9)"; o="$h+$(cut -c1-8 2>/dev/null </proc/sys/kernel/random/boot_id)"';

/** $1 process that owns them, $2 the folder for stores, or "" for only the control folder. */
const MAKE = `umask 077; cd && ${OWN}; s=$2 n="$o@$1@XXXXXX"; mkdir -p .cache/mqbench/runs && c=$(mktemp -d "$PWD/.cache/mqbench/runs/$n") || exit 1; echo "mqbench:control=$c"; [ -n "$s" ] || exit 0; mkdir -p "$s" && s=$(mktemp -d "$s/$n") || exit 1; echo "mqbench:store=$s"; if [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] && m=$(mktemp -d "/dev/shm/$n" 2>/dev/null); then echo "mqbench:memory=$m"; echo "mqbench:free=$(df -Pk /dev/shm | { read -r _; read -r _ _ _ f _; echo "$f"; })"; fi`;

/** $1 process that owns ours, $2 the folder for stores. Memory, a shared store and processes are visible to all users. */
const SHARED = `cd && ${OWN}; for p in "$2" /dev/shm; do for d in "$p/$o"@*; do [ -d "$d" ] && g=$(echo "\${d##*/}" | cut -d@ -f2) && [ "$g" != "$1" ] && [ -d "/proc/$g" ] && { echo mqbench:shared=yes; exit 0; }; done; done; true`;

/** Also removes files that a broker writes although it was killed a moment ago. */
const REMOVE =
	's=0; for d in "$@"; do rm -rf -- "$d" 2>/dev/null || { sleep 1; rm -rf -- "$d" || s=1; }; done; exit $s';

/** A folder of this user's own, and no link to one: anyone can make a folder in /dev/shm and give it our names. */
const MINE = 'mine() { [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ]; }';

/** $1 folder: `g` is the process that owns it. */
const HOLDER = `holder() { g=\${1#*@}; g=\${g%%@*}; case $g in ""|*[!0-9]*) return 1;; esac; }`;

/** $1 control folder of an mqbench that is gone. Kills its processes and containers that are still going down, because they hold the ports. */
const END = `end() { for f in "$1"/agent-*; do [ -f "$f" ] && [ ! -L "$f" ] && g=$(cat "$f") || continue; case $g in ""|*[!0-9]*) continue;; esac; mine "/proc/$g" && grep -q agent "/proc/$g/cmdline" 2>/dev/null || continue; for c in $(cat /proc/"$g"/task/*/children 2>/dev/null); do kill -s KILL -- "-$c"; done; i=0; while kill -0 "$g" 2>/dev/null && [ $i -lt 30 ]; do sleep 0.1 2>/dev/null || sleep 1; i=$((i+1)); done; done; for f in "$1"/container-mqbench-*; do c=\${f##*-}; case $c in ""|*[!0-9a-f]*) continue;; esac; timeout 60 docker rm --force --volumes "mqbench-$c" >/dev/null 2>&1; done; true; }`;

/**
 * This user's folders of this host whose owner is gone (also from before a restart), and any host's that have not changed for a day. Only
 * in a place where no other user can replace a folder by a link; and only control folders, in the home folder, list processes to end.
 */
const SWEEP = `cd && ${OWN}; ${MINE}; ${HOLDER}; ${END}; r="$PWD/.cache/mqbench/runs"; for p in "$r" "$PWD/.cache/mqbench/store" ${PREPARED} /dev/shm; do cd "$p" 2>/dev/null || continue; [ -O . ] || [ -k . ] || continue; for d in mqbench+*@*@*; do mine "$d" && holder "$d" || continue; case $d in "$o"@*) [ -d "/proc/$g" ] && continue; if [ "$p" = "$r" ]; then end "$d"; fi;; "$h"+*) ;; *) [ -z "$(find "$d" -mtime -1 | head -n 1)" ] || continue;; esac; rm -rf -- "$d" 2>/dev/null; done; done; true`;
