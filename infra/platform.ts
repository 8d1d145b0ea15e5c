import { readFileSync, readlinkSync } from "node:fs";
import { readOr } from "./read-or.ts";
import type { ClientFacts } from "./rig.ts";

/** An operating system and its processor, in Go's words: "linux/amd64". */
export function platformName(system: string, processor: string): string {
	return `${SYSTEMS[system.toLowerCase()] ?? system.toLowerCase()}/${PROCESSORS[processor.toLowerCase()] ?? processor.toLowerCase()}`;
}

/** "linux amd64, 6.1.0-18, 16 cores". */
export function machineName(
	platform: string,
	{ kernel, cores }: Pick<ClientFacts, "kernel" | "cores">,
): string {
	return `${platform.replace("/", " ")}, ${kernel}, ${cores} ${cores === 1 ? "core" : "cores"}`;
}

/** Identifies a machine, whatever its name: its boot, and the process table that we see. null if one of them is unknown. */
export function identityOf(boot: string, space: string): string | null {
	return boot === "" || space === "" ? null : `${boot} ${space}`;
}

/** The same for this machine. */
export function ownIdentity(): string | null {
	return identityOf(
		readOr("", () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
		readOr("", () => readlinkSync("/proc/self/ns/pid")),
	);
}

// --- internal ---

/** Node's names that differ from Go's. */
const SYSTEMS: Readonly<Record<string, string>> = { win32: "windows" };

/** Node's and uname's names that differ from Go's. */
const PROCESSORS: Readonly<Record<string, string>> = {
	x64: "amd64",
	x86_64: "amd64",
	ppc64: "ppc64le",
	aarch64: "arm64",
	ia32: "386",
};
