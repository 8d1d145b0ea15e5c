import { readdir, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { sha256, sha256OfFile } from "../../runner/sha256.ts";
import { interrupted, orInterrupted } from "../../runner/stop.ts";
import { tar } from "../docker/tar.ts";
import type { RemoteHost } from "./host.ts";
import type { Link } from "./link.ts";
import { unwritable } from "./trouble.ts";

/** A program, or a folder of this machine, to copy to others. */
export interface Bundle {
	/** For people: "nats-server". */
	readonly name: string;
	readonly files: readonly {
		readonly name: string;
		readonly path: string;
		readonly bytes: number;
	}[];
	/** Lines for sha256sum. */
	readonly sums: string;
	/** A single file, not a folder. */
	readonly single: boolean;
}

/** Reads the files that are at a path now. */
export async function bundleOf(name: string, from: string): Promise<Bundle> {
	const single = !(await stat(from)).isDirectory();
	const names = single ? [path.basename(from)] : await filesBelow(from);
	const files = await Promise.all(
		names.map(async (one) => {
			const file = single ? from : path.join(from, one);
			return { name: one, path: file, bytes: (await stat(file)).size };
		}),
	);
	let sums = "";
	for (const one of files) sums += `${await sha256OfFile(one.path)}  ${one.name}\n`;
	return { name, files, sums, single };
}

/**
 * Copies a bundle to a machine unless it is there, and returns its path there: a folder named by its contents, checked by sha256, renamed at the
 * end. Two mqbench can do this at the same time. `say` gets a line for people when it takes long.
 */
export async function push(
	host: RemoteHost,
	link: Link,
	bundle: Bundle,
	{ say, stop }: { say(line: string): void; readonly stop: AbortSignal },
): Promise<string> {
	const { name, files, sums, single } = bundle;
	const sum = sha256(sums);
	const found = await link.run(FIND, [sum.slice(0, 16), sum]);
	const { folder, whole } = found.values;
	if (found.code !== 0 || !folder) throw unwritable(host, CACHE, found.err);
	const there = single ? `${folder}/${files[0]?.name}` : folder;
	if (whole === "yes") return there;
	const all = files.reduce((bytes, one) => bytes + one.bytes, 0);
	let copied = 0;
	const mb = (bytes: number) => Math.round(bytes / 1e6);
	const slow = setInterval(
		() => say(`  ${host.name}: copying ${name}, ${mb(Math.min(copied, all))} of ${mb(all)} MB`),
		SLOW_MS,
	);
	const entries = [
		{ name: ".sums", mode: 0o600, from: { text: sums } },
		...files.map((one) => ({ name: one.name, mode: 0o700, from: one.path })),
	];
	const pieces = async function* () {
		for await (const piece of tar(entries)) {
			yield piece;
			copied += piece.length;
		}
	};
	try {
		const { code, err } = await link.run(PUSH, [sum.slice(0, 16), sum], {
			feed(stdin) {
				// A command that ends early gives its reason on stderr.
				pipeline(Readable.from(pieces()), stdin, { signal: stop }).catch(() => {
					stdin.end();
				});
			},
		});
		orInterrupted(stop);
		if (code !== 0) throw unwritable(host, CACHE, err);
	} catch (error) {
		throw stop.aborted ? interrupted(stop) : error;
	} finally {
		clearInterval(slow);
	}
	await link.run(FORGET);
	return there;
}

// --- internal ---

const CACHE = "~/.cache/mqbench";

/** True in a folder of these sums that has all of its files unchanged, and no others: Java loads any file next to the jars. */
const whole = (sum: string) =>
	`[ "$(sha256sum 2>/dev/null <.sums | cut -c1-64)" = "${sum}" ] && sha256sum -c .sums >/dev/null 2>&1 && [ $(find . ! -type d | wc -l) -eq $(($(wc -l <.sums) + 1)) ]`;

/** $1 short name, $2 sha256 of the sums. The folder's date is its last use. */
const FIND = `umask 077; cd && mkdir -p .cache/mqbench/bin && f="$PWD/.cache/mqbench/bin/pushed-$1" && echo "mqbench:folder=$f" && if [ -d "$f" ] && cd "$f" && touch . && ${whole("$2")}; then echo "mqbench:whole=yes"; fi`;

/**
 * The same, with an archive as standard input. The first copy wins: a complete copy may be in use and is never touched. `mv -T` replaces only an
 * empty folder.
 */
const PUSH = `umask 077; cd && cd .cache/mqbench/bin && p="pushed-$1.$$.part" && rm -rf "$p" && mkdir "$p" && (cd "$p" && tar -xf - && ${whole("$2")}) || { rm -rf "$p"; exit 1; }; d="pushed-$1"; whole() { (cd "$d" && ${whole("$1")}) >/dev/null 2>&1; }; mv -T "$p" "$d" 2>/dev/null && exit 0; if ! whole "$2"; then mv -T "$d" "$p.old.part" 2>/dev/null; rm -rf "$p.old.part"; mv -T "$p" "$d"; fi; rm -rf "$p"; whole "$2"`;

/** Removes copies that were not used for a month, and broken ones. */
const FORGET =
	'cd && cd .cache/mqbench/bin && find . -maxdepth 1 -name "pushed-*" -mtime +30 -exec rm -rf {} + ; find . -maxdepth 1 -name "pushed-*.part" -mtime +0 -exec rm -rf {} +';

/** A copy that takes longer than this is announced, and then again at this interval. */
const SLOW_MS = 2_000;

/** Relative paths, always in the same order. Follows links; no folder contains itself, and links to nothing are skipped. */
async function filesBelow(folder: string): Promise<string[]> {
	const files: string[] = [];
	const walk = async (below: string, outer: readonly string[]) => {
		const here = path.join(folder, below);
		const real = await realpath(here);
		if (outer.includes(real)) return;
		for (const name of await readdir(here)) {
			const file = below === "" ? name : `${below}/${name}`;
			const kind = await stat(path.join(folder, file)).catch(() => null);
			if (kind?.isDirectory()) await walk(file, [...outer, real]);
			else if (kind?.isFile()) files.push(file);
		}
	};
	await walk("", []);
	return files.sort();
}
