import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** What a machine is to become. */
export interface UserData {
	/** How long after its start the machine ends itself. */
	readonly ttlMinutes: number;
	readonly role: "broker" | "client";
	/** Debian packages, beside those that the set-up itself needs. */
	readonly packages: readonly string[];
	/** The user for SSH. */
	readonly user: string;
	/** A broker stores its data on an attached volume; otherwise on the machine's own NVMe. */
	readonly volume: boolean;
}

/** The most that EC2 accepts, in bytes, before base64. */
export const USER_DATA_LIMIT = 16_384;

/**
 * The script that a machine runs at its first start: the files of `user-data/` joined to a bash script without secrets. Its first command
 * schedules the machine's end, so that nothing after it can keep the machine alive. It depends only on its input and these files.
 */
export function userData(input: UserData): string {
	const { ttlMinutes, role, packages, user, volume } = input;
	// A script without this text would be a machine without an end.
	if (!Number.isSafeInteger(ttlMinutes) || ttlMinutes < 1)
		throw new RangeError(`ttlMinutes must be a whole number of minutes, got ${ttlMinutes}`);
	return [
		"#!/bin/bash",
		// If logind does not answer, a waiting process does it.
		`shutdown -h +${ttlMinutes} || { (sleep ${ttlMinutes * 60} && poweroff --force) >/dev/null 2>&1 & }`,
		`ttl_minutes=${ttlMinutes}`,
		`role=${quoted(role)}`,
		`packages=(${packages.map(quoted).join(" ")})`,
		`user=${quoted(user)}`,
		`volume=${volume ? "yes" : "no"}`,
		...FILES.map((name) => `\n${text(name)}`.trimEnd()),
		"",
	].join("\n");
}

/**
 * The same with the host key that the machine's sshd is to have: cloud-init writes it before sshd starts, and removes those of the image.
 * Whoever reads the user data can pass for such a machine.
 */
export function withHostKey(
	script: string,
	key: { readonly private: string; readonly public: string },
): string {
	const config = {
		ssh_deletekeys: true,
		ssh_keys: { ed25519_private: key.private, ed25519_public: key.public },
	};
	const part = (type: string, text: string) => [
		`--${BOUNDARY}`,
		`Content-Type: text/${type}; charset="us-ascii"`,
		"",
		text,
	];
	return [
		"MIME-Version: 1.0",
		`Content-Type: multipart/mixed; boundary="${BOUNDARY}"`,
		"",
		// JSON is YAML.
		...part("cloud-config", JSON.stringify(config)),
		...part("x-shellscript", script),
		`--${BOUNDARY}--`,
		"",
	].join("\n");
}

// --- internal ---

const BOUNDARY = "==mqbench==";

/** The last file runs the functions of the others. */
const FILES = [
	"steps",
	"facts",
	"ttl",
	"quiet",
	"packages",
	"engine",
	"disk",
	"tuning",
	"limits",
	"clock",
	"main",
];

/** Quotes one word for a shell. (runner/shell.ts cannot be imported: this folder is compiled and shipped on its own.) */
function quoted(word: string): string {
	return `'${word.replaceAll("'", "'\\''")}'`;
}

/** The files are in `user-data/` beside this file, or beside the folder that it was compiled to. */
function text(name: string): string {
	const files = ["./", "../"].map((up) =>
		fileURLToPath(new URL(`${up}user-data/${name}.sh`, import.meta.url)),
	);
	for (const file of files) {
		try {
			// Comments outside of functions are for who reads the files: EC2 takes so many bytes.
			return readFileSync(file, "utf8").replace(/^#.*\n/gm, "");
		} catch {}
	}
	throw new Error(`${files.join(" and ")} cannot be read`);
}
