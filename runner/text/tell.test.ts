import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { tell } from "./tell.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));

it("writes values ending in Ns and Bytes with their unit, counts with their noun, lists with commas, and braces as they are", () => {
	expect(tell("timeout-beyond-drain", { timeoutNs: 31e9, drainNs: 30e9 })).toBe(
		"timeout 31s is longer than drain 30s, the longest wait for a message; write drain: 31s",
	);
	expect(
		tell("too-large-for-system", { sizeBytes: 9 * 1024 ** 2, limitBytes: 8192, system: "nats" }),
	).toBe("message 9MiB is larger than nats takes; write at most message: 8KiB");
	expect(tell("topics-beyond-producers", { producers: 1, topics: 5 })).toContain(
		"1 producer cannot fill 5 topics",
	);
	expect(tell("one-value", { field: "rate", values: ["a", "b"] })).toContain("[a, b]");
	expect(tell("clients-in-docker", { count: 3, target: "local" })).toContain(
		"clients: { docker: 3 } needs",
	);
});

it("has each code once, in whatever file", async () => {
	const files = readFileSync(path.join(folder, "tell.ts"), "utf8").matchAll(
		/from "\.\/([\w-]+\.ts)"/g,
	);
	const seen = new Map<string, string>();
	for (const [, file = ""] of files)
		for (const table of Object.values(await import(path.join(folder, file))))
			for (const code of Object.keys(table as object)) {
				expect(seen.get(code), `${code} of ${file}`).toBeUndefined();
				seen.set(code, file);
			}
	expect(seen.size).toBeGreaterThan(200);
});
