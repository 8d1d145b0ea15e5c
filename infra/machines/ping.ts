import { z } from "zod";
import type { Ping } from "../rig.ts";

/** A line of sh; its value `ping` goes to `pingOf`. $1 is agent, $2 the address. */
export const PING = 'echo "mqbench:ping=$("$1" ping "$2" 2>&1)"';

/** Agent's output: JSON, or the reason for a failure. */
export function pingOf(said: string): Ping {
	let json: unknown;
	try {
		json = JSON.parse(said);
	} catch {
		throw new Error(said.trim().replace(/^agent: /, "") || "agent said nothing");
	}
	const parsed = Pinged.safeParse(json);
	if (!parsed.success) throw new Error(`agent said ${said.trim()}`);
	return parsed.data;
}

// --- internal ---

const Pinged = z.object({
	connects: z.int().positive(),
	minNs: z.int().positive(),
	p50Ns: z.int().positive(),
	maxNs: z.int().positive(),
});
