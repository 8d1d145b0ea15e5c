import { createHash, randomBytes } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { sha256OfFile } from "../../runner/sha256.ts";
import { syncFolder } from "../../runner/whole-file.ts";
import type { Workspace } from "../rig.ts";
import type { RemoteHost } from "./host.ts";
import { type Link, LOST } from "./link.ts";
import type { Programs } from "./programs.ts";
import { startThere } from "./supervised.ts";
import { unfit, unwritable } from "./trouble.ts";

export interface WorkspaceOptions {
	readonly host: RemoteHost;
	/** Runs something over the connection, and repeats it over a new one if the first was lost. */
	over<T>(action: (link: Link) => Promise<T>): Promise<T>;
	readonly programs: Programs;
	/** Folder on this machine. */
	readonly local: string;
	/** File of the host's use of resources, which is fetched when the workspace is removed. */
	readonly samples: string;
	/** How far the host's clock is ahead of ours, by the last reading, ns. */
	aheadNs(): number;
}

/** A new folder on a host, below ~/.cache/mqbench/runs. */
export async function remoteWorkspace(options: WorkspaceOptions): Promise<Workspace> {
	const { host, local, over } = options;
	const { link, folder } = await over(async (link) => {
		const made = await link.run(MAKE, [String(link.holder)]);
		const { folder } = made.values;
		if (made.code !== 0 || !folder) throw unwritable(host, "~/.cache/mqbench", made.err);
		return { link, folder };
	});
	const fetchOne = (name: string) => over((link) => fetchFile(host, link, folder, name, local));
	let started = false;
	return {
		async put(name) {
			const file = path.join(local, name);
			const sum = await sha256OfFile(file);
			const answer = await over((link) =>
				link.run(PUT, [folder, name, sum], (stdin) => void createReadStream(file).pipe(stdin)),
			);
			if (answer.code !== 0) throw unwritable(host, folder, answer.err);
		},
		start(command) {
			started = link.alive();
			return startThere(link, options.programs.agent, {
				...command,
				argv: [options.programs.k6, ...command.args],
				folder,
				pidFile: ".agent",
				samples: options.samples,
				aheadNs: options.aheadNs(),
			});
		},
		fetch: fetchOne,
		async remove() {
			// The run goes on: missing figures count as unknown.
			if (started) await fetchOne(options.samples);
			await over((link) => link.run('rm -rf -- "$1"', [folder]));
		},
	};
}

/** Removes workspaces of mqbench processes that are gone: the process that holds their connection is gone, too. */
export async function sweepWorkspaces(link: Link): Promise<void> {
	await link.run(SWEEP);
}

// --- internal ---

/** Its name contains the host and process that own it, since several hosts may share a home folder. */
const MAKE =
	'echo; umask 077; cd && mkdir -p .cache/mqbench/runs && echo "mqbench:folder=$(mktemp -d "$PWD/.cache/mqbench/runs/$(uname -n)@$1@XXXXXX")"';

/** Workspaces of this host whose owner is gone, and those of any host that have not changed for a day. */
const SWEEP = `cd && cd .cache/mqbench/runs && [ -O . ] || exit 0; for d in *@*@*; do [ -d "$d" ] && [ ! -L "$d" ] && [ -O "$d" ] || continue; case $d in "$(uname -n)"@*) g=\${d#*@}; g=\${g%%@*}; case $g in ""|*[!0-9]*) continue;; esac; kill -0 "$g" 2>/dev/null && continue;; *) [ -z "$(find "$d" -mtime -1 | head -n 1)" ] || continue;; esac; rm -rf -- "$d"; done; true`;

/** $1 folder, $2 name, $3 sha256. */
const PUT =
	'umask 077; cd "$1" && { cat >"$2" && [ "$(sha256sum <"$2" | cut -c1-64)" = "$3" ] || { rm -f "$2"; exit 1; }; }';

/** Its exit code if there is no such file. */
const NONE = 44;

/** $1 folder, $2 name: a line with its sha256, and the file itself. */
const GET = `cd "$1" && [ -f "$2" ] || exit ${NONE}; echo; echo "mqbench:sum=$(sha256sum <"$2" | cut -c1-64)" && exec cat "$2"`;

/** Fetches a file; it gets its name only when it is complete. false: it does not exist. */
export async function fetchFile(
	host: RemoteHost,
	link: Link,
	folder: string,
	name: string,
	local: string,
): Promise<boolean> {
	const file = path.join(local, name);
	const incoming = `${file}.${randomBytes(6).toString("hex")}.part`;
	const child = link.spawn(GET, [folder, name]);
	child.stdin.end();
	let err = "";
	child.stderr.setEncoding("utf8").on("data", (text) => {
		err += text;
	});
	const ended = child.code;
	// It is removed over there afterwards, so it has to be on the disk here.
	const out = createWriteStream(incoming, { flags: "wx", flush: true });
	const hash = createHash("sha256");
	let sum: string | null = null;
	let head = Buffer.alloc(0);
	let failed: Error | null = null;
	out.on("error", (error) => {
		failed = error;
	});
	child.stdout.on("data", (piece: Buffer) => {
		let body = piece;
		if (sum === null) {
			head = Buffer.concat([head, piece]);
			const line = /^mqbench:sum=([0-9a-f]{64})\n/m.exec(head.toString("latin1"));
			if (!line) return;
			sum = line[1] ?? "";
			body = head.subarray(line.index + line[0].length);
		}
		hash.update(body);
		if (!out.write(body)) {
			child.stdout.pause();
			out.once("drain", () => child.stdout.resume());
		}
	});
	const code = await ended;
	await new Promise<void>((resolve) => {
		if (failed || out.destroyed) return resolve();
		out.once("error", () => resolve());
		out.end(() => resolve());
	});
	try {
		if (failed) throw failed;
		if (code === NONE) return false;
		if (code === LOST) throw await link.lost(err);
		if (code !== 0 || sum === null)
			throw unfit(host, `${name} cannot be read there (${err.trim()})`, AGAIN);
		if (hash.digest("hex") !== sum)
			throw unfit(host, `${name} came here with another sha256`, AGAIN);
		await rename(incoming, file);
		syncFolder(local);
		return true;
	} finally {
		await rm(incoming, { force: true });
	}
}

const AGAIN = "Run it again; if that fails too, check its disk";
