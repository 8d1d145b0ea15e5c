import type { Run } from "../model/result.ts";
import { coresOf } from "../verdict/checks/machine.ts";
import { type Facts, lagByClient } from "../verdict/facts.ts";
import { percentileOf } from "../verdict/quantile.ts";

type Client = Run["clients"][number];

/** The clients of a run, when there are several or one is no process of this machine: else the run's own figures are the client's. */
export function clientsOf(facts: Facts): Client[] {
	const { parts } = facts.collected;
	const plain = parts.length === 1 && (parts[0]?.end ?? LOCAL).kind === "local";
	if (plain) return [];
	const lags = lagByClient(facts);
	return parts.map((part): Client => {
		const own = lags.find((l) => l.part === part);
		const merged = own && new Map([["lag", own.merged]]);
		const p99 =
			parts.length === 1
				? percentileOf(facts, "lag", 99)
				: merged && percentileOf({ ...facts, merged }, "lag", 99, own.sample);
		return {
			...(part.end ?? {
				index: part.index,
				name: part.name,
				kind: "local",
				machine: null,
				k6Exit: null,
				k6Signal: null,
				firstClaimNs: null,
				clock: null,
				error: null,
			}),
			// Its files say what the runner did not hear of: that they broke off, and when it began.
			error: part.problem,
			firstClaimNs: part.totals?.firstClaimNs ?? part.end?.firstClaimNs ?? null,
			intended: part.counters.window?.intended ?? null,
			sent: part.counters.window?.sent ?? null,
			lagP99: p99?.value ?? null,
			lagP99Weak: p99?.support === "weak",
			cores: rounded(coresOf(facts, part)),
		};
	});
}

// --- internal ---

const LOCAL = { kind: "local" } as const;

function rounded(cores: number | null): number | null {
	return cores === null ? null : Number(cores.toPrecision(6));
}
