import type { Run } from "../model/result.ts";
import { PLAINEST, workloadFacts } from "../model/workload.ts";
import { formatDurationExact, plural } from "../units.ts";

/**
 * In words and a fixed order. Only equal work is compared; systems, names, SLA, repeats and target are not part of it. Facts in PLAIN are
 * left out: files stay small, and a kind of work that mqbench learns later does not change other hashes.
 */
export function workFacts({ load }: Pick<Run, "load">): Record<string, string> {
	const facts = {
		...workloadFacts(load),
		replicas: load.replicas === null ? "the broker's own" : `${load.replicas}`,
		clients: String(load.clients),
		durability: load.durabilityLevel ?? "the broker's own",
		acknowledge: load.acknowledge,
		CPUs: `generator ${load.pin.generator ?? "any"}, brokers ${load.pin.brokers ?? "any"}`,
		faults: load.faults.map(faultText).join("; ") || "none",
		"loads at once": `${load.loads ?? 1}`,
	};
	const all = Object.entries({ ...FIRST, ...facts });
	return Object.fromEntries(all.filter(([name, value]) => PLAIN[name] !== value));
}

/** Of one of its runs, without the rate, and with the SLA that decides the answer. */
export function searchFacts(run: Pick<Run, "load">, sla: readonly string[]) {
	// Probes are shorter than the run that confirms, and their length follows from the SLA.
	const { duration: _, ...facts } = workFacts(run);
	return { ...facts, load: "the highest rate", sla: sla.join("; ") };
}

/** "rate 3000/s against 5000/s, message 256B against 1KiB"; null also if one of them is unknown. */
export function workDifference(
	a: Readonly<Record<string, string>> | undefined,
	b: Readonly<Record<string, string>> | undefined,
): string | null {
	if (a === undefined || b === undefined) return null;
	const names = new Set([...Object.keys(a), ...Object.keys(b)]);
	return against(differencesIn([...names].map((name) => [name, factOf(name, a), factOf(name, b)])));
}

export type Difference = ReturnType<typeof differencesIn>[number];

/** `what`: "kernel", "nats: broker". */
export function differencesIn(facts: Iterable<readonly [what: string, a: unknown, b: unknown]>) {
	return [...facts]
		.map(([what, a, b]) => ({ what, a: known(a), b: known(b) }))
		.filter(({ a, b }) => a !== b);
}

/** "CPU Example A against Example B, cores 2 against 4" */
export function against(differences: readonly Difference[]): string | null {
	if (differences.length === 0) return null;
	return differences.map(({ what, a, b }) => `${what} ${a} against ${b}`).join(", ");
}

// --- internal ---

/** Never change one of these: hashes in stored baselines would change. */
const PLAIN: Readonly<Record<string, string | null>> = {
	...PLAINEST,
	replicas: "the broker's own",
	clients: "1",
	durability: "the broker's own",
	acknowledge: "automatic",
	CPUs: "generator any, brokers any",
	faults: "none",
	"loads at once": "1",
};

/** Stored hashes depend on this order; later fields come behind it. */
const ORDER =
	"pattern|load|duration|warm-up|drain|timeout|message|payload|checksum|connections|producers|" +
	"topics|partitions|replicas|consumers|subscriptions|connections of consumers|wildcard|" +
	"bystanders|work per message|keys|in flight|clients|delivery|order|durability|CPUs|faults";
const FIRST = Object.fromEntries(ORDER.split("|").map((name) => [name, ""]));

function faultText(fault: Run["load"]["faults"][number]): string {
	const { action, node, atNs, forNs, delayNs, count } = fault;
	const of =
		fault.of === "consumers"
			? plural(count ?? 1, "consumer")
			: node === null
				? "all nodes"
				: node === "leader"
					? "the leader"
					: `node ${node}`;
	const lasts = forNs === null ? "" : ` for ${formatDurationExact(forNs)}`;
	const delay = delayNs === null ? "" : ` by ${formatDurationExact(delayNs)}`;
	return `${action} of ${of} at ${formatDurationExact(atNs)}${lasts}${delay}`;
}

function factOf(name: string, facts: Readonly<Record<string, string>>) {
	return facts[name] ?? PLAIN[name] ?? "none";
}

function known(value: unknown): string {
	return value === undefined || value === null ? "not known" : String(value);
}
