import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** What a machine is to become. */
export interface UserData {
	/** It ends itself so long after its start. */
	readonly ttlMinutes: number;
	readonly role: "broker" | "client";
	/** Debian packages, beside those that the set-up itself needs. */
	readonly packages: readonly string[];
	/** Who comes in over SSH. */
	readonly user: string;
	/** A broker keeps its data on a volume that is attached; else on the machine's own NVMe. */
	readonly volume: boolean;
}

/** EC2 takes no more, in bytes, before base64. */
export const USER_DATA_LIMIT = 16_384;

/**
 * The script that a machine runs at its first start: `user-data/` joined, a bash script without any secret. Its first command arms the
 * machine's end, so that nothing that comes after can keep it alive. A function of its input and of the files beside it.
 */
export function userData(input: UserData): string {
	const { ttlMinutes, role, packages, user, volume } = input;
	// Any other text would be a machine without an end.
	if (!Number.isSafeInteger(ttlMinutes) || ttlMinutes < 1)
		throw new RangeError(
			`a machine ends after so many whole minutes, not ${ttlMinutes}`,
		);
	return [
		"#!/bin/bash",
		// Where logind does not answer, a process that waits does it.
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

// --- internal ---

/** The last one runs what those before it are. */
const FILES = [
	"steps",
	"facts",
	"ttl",
	"quiet",
	"packages",
	"disk",
	"tuning",
	"limits",
	"clock",
	"main",
];

/** One word of a shell, whatever it holds. (runner/shell.ts is not within reach: this folder is compiled, and shipped, on its own.) */
function quoted(word: string): string {
	return `'${word.replaceAll("'", "'\\''")}'`;
}

/** They lie in `user-data/` beside this file, or beside the folder that it was compiled to. */
function text(name: string): string {
	const files = ["./", "../"].map((up) =>
		fileURLToPath(new URL(`${up}user-data/${name}.sh`, import.meta.url)),
	);
	for (const file of files) {
		try {
			return readFileSync(file, "utf8");
		} catch {}
	}
	throw new Error(`${files.join(" and ")} cannot be read`);
}
