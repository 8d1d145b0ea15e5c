import { percentile } from "../../histogram/percentiles.ts";
import { say } from "../../text/say.ts";
import { formatDuration } from "../../units.ts";
import { mainSampleOf, messagesDue } from "../facts.ts";
import { type Check, unknown } from "./check.ts";
import { overWindow } from "./cpu.ts";
import { FRESH_MEMORY_SHARE } from "./limits.ts";

/**
 * Where the host of a virtual machine gives it a page only when it is first touched, a broker that keeps what it gets is as slow as the host:
 * what was written and what its processes grew by in the window, in MiB, times what a new MiB costs here (run.json, `freshMemoryNs`), is
 * the most of it that can be in each message.
 */
export const freshMemory: Check = {
	name: "freshMemory",
	applies: ({ run }) => run?.freshMemoryNs != null,
	judge(facts) {
		const perMib = facts.collected.run?.freshMemoryNs ?? 0;
		const machine = { client: null, samples: facts.collected.resources };
		const written = overWindow(facts, machine, (l) => l.broker?.writeBytes ?? null);
		// What a process gives back is no new memory, and takes nothing off what it writes.
		const grown = overWindow(facts, machine, (l) => l.broker?.rssBytes ?? null) ?? 0;
		const messages = messagesDue(facts);
		const p50 = percentile(mainSampleOf(facts), 50, 1).value;
		if (written === null || messages === 0 || p50 === null)
			return unknown(say("fresh-memory-unknown"), say("read-proc"));
		const bytes = (written + grown) / messages;
		// The upper bound: some of that memory is not new, and some is touched when no message waits. No part of p50 is larger than p50.
		const costNs = Math.min((perMib * bytes) / 2 ** 20, p50);
		const much = costNs > FRESH_MEMORY_SHARE * p50;
		return {
			status: much ? "warn" : "ok",
			said: say("fresh-memory", { mibNs: perMib, bytes, costNs, p50Ns: p50 }),
			figure: formatDuration(costNs),
			limit: formatDuration(FRESH_MEMORY_SHARE * p50),
			remedy: say("known-memory"),
		};
	},
};
