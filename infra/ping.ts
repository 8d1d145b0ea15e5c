import { z } from "zod";

/** TCP connects, one after the other, ns. */
const Ping = z.object({
	connects: z.int().positive(),
	minNs: z.int().positive(),
	p50Ns: z.int().positive(),
	maxNs: z.int().positive(),
});
export type Ping = z.infer<typeof Ping>;

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
	const parsed = Ping.safeParse(json);
	if (!parsed.success) throw new Error(`agent said ${said.trim()}`);
	return parsed.data;
}
