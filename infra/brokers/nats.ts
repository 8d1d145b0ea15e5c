import { z } from "zod";
import type { LocalBroker } from "../local/local-broker.ts";

/** natsd, the embedded default: nats-server as a process of its own. */
export const nats: LocalBroker = {
	program: "natsd",
	argv: ({ port, store }) => ["--port", String(port ?? 0), "--store", store],
	ready(line) {
		const parsed = Ready.safeParse(tryJson(line));
		if (!parsed.success) return null;
		const { url, version, pid } = parsed.data;
		return { url, version: `nats-server ${version}`, pid };
	},
	portTaken: (log) => /address already in use/i.test(log),
};

// --- internal ---

const Ready = z.object({ url: z.string(), version: z.string(), pid: z.int() });

function tryJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}
