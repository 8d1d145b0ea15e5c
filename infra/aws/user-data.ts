import { existsSync, readFileSync } from "node:fs";

/** A machine's role and set-up. */
export interface UserData {
	/** How long after its start the machine ends itself. */
	readonly ttlMinutes: number;
	readonly role: "broker" | "client";
	/** Debian packages, in addition to the set-up's own. */
	readonly packages: readonly string[];
	/** The user for SSH. */
	readonly user: string;
	/** A broker stores its data on an attached volume; otherwise on the machine's own NVMe. */
	readonly volume: boolean;
}

/**
 * The script that a machine runs at its first start: the files of `user-data/` joined to a bash script without secrets. Its first command
 * schedules the machine's end, which nothing after it can prevent. EC2 accepts 16 KiB.
 */
export function userData({ ttlMinutes, role, packages, user, volume }: UserData): string {
	return [
		"#!/bin/bash",
		// If logind does not answer, a waiting process does it.
		`shutdown -h +${ttlMinutes} || { (sleep ${ttlMinutes * 60} && poweroff --force) >/dev/null 2>&1 & }`,
		`ttl_minutes=${ttlMinutes}`,
		`role=${role}`,
		`packages=(${packages.map(quoted).join(" ")})`,
		`user=${quoted(user)}`,
		`volume=${volume ? "yes" : "no"}`,
		...FILES.map((name) => `\n${readFileSync(new URL(`${name}.sh`, FOLDER), "utf8")}`.trimEnd()),
		"",
	].join("\n");
}

/**
 * The same with the host key for the machine's sshd: cloud-init writes it before sshd starts, and removes the image's keys. With the user
 * data, another machine can pose as this one.
 */
export function withHostKey(
	script: string,
	key: { readonly private: string; readonly public: string },
): string {
	const config = {
		ssh_deletekeys: true,
		ssh_keys: { ed25519_private: key.private, ed25519_public: key.public },
	};
	const part = (type: string, text: string) =>
		`--${BOUNDARY}\nContent-Type: text/${type}; charset="us-ascii"\n\n${text}\n`;
	return [
		`MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="${BOUNDARY}"\n\n`,
		// JSON is YAML.
		part("cloud-config", JSON.stringify(config)),
		part("x-shellscript", script),
		`--${BOUNDARY}--\n`,
	].join("");
}

// --- internal ---

const BOUNDARY = "==mqbench==";

/** The last one runs the steps. */
const FILES = ["frame", "ttl", "packages", "store", "tuning", "main"];

/** Next to this file, or to the folder that it was compiled to. */
const FOLDER = ["./", "../"]
	.map((up) => new URL(`${up}user-data/`, import.meta.url))
	.find((folder) => existsSync(folder));

/** Quotes one word for a shell. (runner/shell.ts cannot be imported: this folder is compiled and shipped on its own.) */
function quoted(word: string): string {
	return `'${word.replaceAll("'", "'\\''")}'`;
}
