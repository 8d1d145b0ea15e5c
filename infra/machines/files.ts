import { createHash, randomBytes } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { sha256OfFile } from "../../runner/sha256.ts";
import { syncFolder } from "../../runner/whole-file.ts";
import { tar } from "../docker/tar.ts";
import type { RemoteHost } from "./host.ts";
import { type Link, LOST, textOf } from "./link.ts";
import { unfit, unwritable } from "./trouble.ts";

/** Writes texts there by their path in the folder, which only their user may read by default. */
export async function writeThere(
	host: RemoteHost,
	link: Link,
	folder: string,
	texts: Readonly<Record<string, string>>,
	mode = 0o600,
): Promise<void> {
	const entries = Object.entries(texts).map(([name, text]) => ({ name, mode, from: { text } }));
	if (entries.length === 0) return;
	const { code, err } = await link.run(UNPACK, [folder], {
		// A command that ends early gives its reason on stderr.
		feed: (stdin) => void pipeline(Readable.from(tar(entries)), stdin).catch(() => {}),
	});
	if (code !== 0) throw unwritable(host, folder, err, "store");
}

/** Copies a file of this machine's folder there, checked by its sha256. */
export async function putFile(
	host: RemoteHost,
	link: Link,
	folder: string,
	name: string,
	local: string,
): Promise<void> {
	const file = path.join(local, name);
	const { code, err } = await link.run(PUT, [folder, name, await sha256OfFile(file)], {
		feed: (stdin) => void createReadStream(file).pipe(stdin),
	});
	if (code !== 0) throw unwritable(host, folder, err);
}

/** Copies a file back, checked by its sha256; it gets its name only when it is complete. false if it does not exist. */
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
	const err = textOf(child.stderr);
	const hash = createHash("sha256");
	const hashed = async function* (pieces: AsyncIterable<Buffer>) {
		for await (const piece of pieces) {
			hash.update(piece);
			yield piece;
		}
	};
	try {
		// It is removed over there afterwards, so it has to be on the disk here.
		await pipeline(child.stdout, hashed, createWriteStream(incoming, { flags: "wx", flush: true }));
		const code = await child.code;
		if (code === NONE) return false;
		if (code === LOST) throw await link.lost(err());
		if (code !== 0) throw unfit(host, `${name} cannot be read there (${err().trim()})`, AGAIN);
		if (hash.digest("hex") !== SUM.exec(err())?.[1])
			throw unfit(host, `${name} came here with another sha256`, AGAIN);
		await rename(incoming, file);
		syncFolder(local);
		return true;
	} finally {
		child.kill();
		await rm(incoming, { force: true });
	}
}

// --- internal ---

/** $1 folder. */
const UNPACK = 'umask 077; cd "$1" && tar -xf -';

/** $1 folder, $2 name, $3 sha256. */
const PUT =
	'umask 077; cd "$1" && { cat >"$2" && [ "$(sha256sum <"$2" | cut -c1-64)" = "$3" ] || { rm -f "$2"; exit 1; }; }';

/** Its exit code if there is no such file. */
const NONE = 44;

/** $1 folder, $2 name. Its sum goes to stderr, after any other output there. */
const GET = `cd "$1" && [ -f "$2" ] || exit ${NONE}; sha256sum <"$2" >&2 && exec cat "$2"`;
const SUM = /([0-9a-f]{64}) +-$/m;

const AGAIN = "Run it again; if that fails too, check its disk";
