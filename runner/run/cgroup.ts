import { readFileSync } from "node:fs";
import path from "node:path";

/** The trimmed text of a file in /proc or /sys, or null if it cannot be read. */
export function readText(file: string): string | null {
	try {
		return readFileSync(file, "utf8").trim();
	} catch {
		return null;
	}
}

/** A file of this process's CPU control group (v2 or v1), or of the root group, because in a container the path leads outside. */
export function cpuGroupFile(name: string, read = readText): string | null {
	const groups = read("/proc/self/cgroup") ?? "";
	const own = /^0::(.*)$/m.exec(groups)?.[1] ?? "/";
	const ownV1 = /^\d+:[^:]*\bcpu\b[^:]*:(.*)$/m.exec(groups)?.[1] ?? "/";
	for (const folder of [own, "/", `/cpu${ownV1}`, "/cpu"]) {
		const text = read(path.join("/sys/fs/cgroup", folder, name));
		if (text !== null) return text;
	}
	return null;
}
