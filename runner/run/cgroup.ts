import { readFileSync } from "node:fs";
import path from "node:path";

/** The text of a file of /proc or /sys, trimmed; null: it cannot be read. */
export function readText(file: string): string | null {
	try {
		return readFileSync(file, "utf8").trim();
	} catch {
		return null;
	}
}

/**
 * The text of a file of the control group that this process is in, of version 2 or 1 of the CPU controller; in a container, whose group leads outside,
 * of the root. null: there is none.
 */
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
