import { percentile } from "../histogram/percentiles.ts";
import type { ResourceLine } from "../model/resource-file.ts";
import type { ClientPart, Collected, Machine } from "../run/collect.ts";
import { formatCount, formatDuration } from "../units.ts";
import { type Check, type CheckFunction, result } from "./check.ts";
import { clientName } from "./clients.ts";
import {
	type Facts,
	mainSampleOf,
	ticksOfWindow,
	tightestLimitNs,
	windowOf,
} from "./facts.ts";
import {
	GC_SHARE,
	OTHERS_SHARE,
	OWN_CPU_SHARE,
	SCHEDULER_SHARE,
	STEAL_SHARE,
} from "./limits.ts";

/** Had generator and broker the machines that they needed? All of these are warnings: they say why, the gates say whether it mattered. */

export const cpuQuota: CheckFunction = (facts) =>
	worstMachine(facts, (machine) => {
		const grown = overWindow(facts, machine, (line) => line.machine.throttled);
		if (grown === null)
			return result(
				"cpuQuota",
				"unknown",
				`whether the control group held ${held(machine)} back cannot be read`,
				{ remedy: READ_PROC },
			);
		return grown > 0
			? result(
					"cpuQuota",
					"warn",
					`the control group's CPU quota held ${held(machine)} back in ${formatCount(grown)} periods of the window`,
					{
						figure: formatCount(grown),
						limit: "0",
						remedy: "give the container or job more CPU, or no limit",
					},
				)
			: result("cpuQuota", "ok", "no CPU quota held mqbench back", {
					figure: "0",
					limit: "0",
				});
	});

export const steal: CheckFunction = (facts) =>
	worstMachine(facts, (machine) => {
		const taken = overWindow(facts, machine, (line) => line.machine.stealNs);
		const all = overWindow(facts, machine, (line) => line.machine.cpuNs);
		if (taken === null || !all)
			return result(
				"steal",
				"unknown",
				"what the hypervisor took cannot be read",
				{ remedy: READ_PROC },
			);
		const figure = percent(taken / all);
		const limit = percent(STEAL_SHARE);
		return taken / all > STEAL_SHARE
			? result(
					"steal",
					"warn",
					`the hypervisor took ${figure} of the machine's CPU time`,
					{
						figure,
						limit,
						remedy:
							"use a machine with dedicated cores, or measure again at a quieter time",
					},
				)
			: result("steal", "ok", `the hypervisor took ${figure} of the CPU time`, {
					figure,
					limit,
				});
	});

/**
 * What neither generator nor broker used was taken from both: a broker that is starved is not slow. Of this machine and of hosts of the broker's
 * nodes alone: of another one nobody knows which of its processes are the broker's.
 */
export const others: CheckFunction = (facts) => {
	const { nodes, resources } = facts.collected;
	return worstOf(
		nodes.length > 0 ? nodes : [{ client: null, samples: resources }],
		nodes.length > 1,
		(machine) => othersOn(machine, facts),
	);
};

/** What `others` can tell about: the broker's processes are known, and no generator's are among the others. */
export function knowsOthers({ plan, nodes, run }: Collected): boolean {
	return plan.target === "local" || (nodes.length > 0 && !run?.sameHost);
}

function othersOn(machine: Machine, facts: Facts): Check {
	const alone = machine.node !== undefined;
	// noop is no process.
	const brokerOf = (line: ResourceLine) =>
		facts.collected.plan.broker === "noop" ? 0 : line.broker?.cpuNs;
	const generatorOf = (line: ResourceLine) =>
		alone ? 0 : line.generator?.cpuNs;
	// A closed load's generator may be gone before the first sample after its window.
	const grown = (counter: (line: ResourceLine) => number | null) =>
		overWindow(
			facts,
			machine,
			counter,
			(line) => generatorOf(line) != null && brokerOf(line) != null,
		);
	const all = grown((line) => line.machine.cpuNs);
	const idle = grown((line) => line.machine.idleNs);
	const taken = grown((line) => line.machine.stealNs);
	const generator = grown((line) => generatorOf(line) ?? null);
	const broker = grown((line) => brokerOf(line) ?? null);
	if (!all || idle === null || generator === null || broker === null)
		return result(
			"others",
			"unknown",
			"what other processes used cannot be told",
			{ remedy: READ_PROC },
		);
	const own = idle + (taken ?? 0) + generator + broker;
	const share = Math.max(0, all - own) / all;
	const figure = percent(share);
	const limit = percent(OTHERS_SHARE);
	const of = alone
		? "the CPU time on the broker's host"
		: "the machine's CPU time";
	return share > OTHERS_SHARE
		? result(
				"others",
				"warn",
				`other processes used ${figure} of ${of}, ${alone ? "the broker" : "generator and broker"} ${percent((generator + broker) / all)}`,
				{
					figure,
					limit,
					remedy: `stop what else runs on ${alone ? "it" : "the machine"}, and measure again`,
				},
			)
		: result("others", "ok", `other processes used ${figure} of ${of}`, {
				figure,
				limit,
			});
}

export const ownCpu: CheckFunction = (facts) => {
	const used = generatorMachines(facts)
		.map(({ parts, here, cores: all }) => {
			// Processes on one machine share its cores.
			const perSecond = sumOf(parts.map((part) => coresOf(facts, part) ?? 0));
			const cores = here ? Math.min(all, facts.quotaCores ?? all) : all;
			return { parts, perSecond, cores, share: perSecond / cores };
		})
		.filter(({ perSecond, cores }) => perSecond > 0 && cores > 0)
		.reduce<OwnCpu | null>(
			(worst, one) => (worst === null || one.share > worst.share ? one : worst),
			null,
		);
	if (used === null)
		return result(
			"ownCpu",
			"unknown",
			"the generator's own CPU time cannot be read",
			{ remedy: "measure on Linux or macOS, for a second at least" },
		);
	const { perSecond, cores, parts } = used;
	const figure = `${Number(perSecond.toPrecision(2))} of ${formatCount(cores)} cores`;
	const limit = percent(OWN_CPU_SHARE);
	const where =
		facts.collected.parts.length === 1
			? ""
			: parts.length === 1
				? ` on ${clientName(parts[0] as ClientPart)}`
				: `, ${parts.length} clients on this machine`;
	return perSecond > OWN_CPU_SHARE * cores
		? result(
				"ownCpu",
				"warn",
				`the generator itself used ${figure}${where}, more than ${limit}`,
				{
					figure,
					limit,
					remedy: "give it more cores, or lower the rate",
				},
			)
		: result("ownCpu", "ok", `the generator itself used ${figure}${where}`, {
				figure,
				limit,
			});
};

/** Cores that a client used in the window; null: it has not told. */
export function coresOf(
	facts: Pick<Facts, "collected">,
	part: ClientPart,
): number | null {
	const ticks = ticksOfWindow(facts, part.ticks);
	return ticks.length === 0
		? null
		: sumOf(ticks.map((t) => t.cpuNs)) / ticks.length / 1e9;
}

export const schedLatency: CheckFunction = (facts) => {
	const worst = worstPart(
		facts,
		(part) => part.totals?.schedLatencyP999Ns ?? null,
	);
	const latency = facts.collected.totals?.schedLatencyP999Ns;
	const response = mainSampleOf(facts);
	const reference =
		tightestLimitNs(facts) ?? percentile(response, 99, 1).value ?? response.max;
	if (latency === undefined || reference === null)
		return result("schedLatency", "unknown", "no client has measured it", {
			remedy: "see why the run did not end",
		});
	const figure = formatDuration(latency);
	const limit = formatDuration(reference * SCHEDULER_SHARE);
	return latency > reference * SCHEDULER_SHARE
		? result(
				"schedLatency",
				"warn",
				`one in 1000 of the generator's goroutines waited longer than ${figure} for a core${nameOf(facts, worst)}`,
				{
					figure,
					limit,
					remedy:
						"give it more cores, or run the broker on another machine: they compete for CPU",
				},
			)
		: result(
				"schedLatency",
				"ok",
				`the generator's goroutines waited at most ${figure} for a core, 999 in 1000`,
				{ figure, limit },
			);
};

export const gcPause: CheckFunction = (facts) => {
	const pauses = (part: ClientPart) => {
		const ticks = ticksOfWindow(facts, part.ticks);
		return ticks.length === 0
			? null
			: {
					paused: sumOf(ticks.map((t) => t.gcPauseNs)),
					windowNs: ticks.length * 1e9,
				};
	};
	const worst = worstPart(facts, (part) => {
		const found = pauses(part);
		return found && found.paused / found.windowNs;
	});
	const found = worst && pauses(worst);
	if (found === null)
		return result("gcPause", "unknown", "no second of the window was counted", {
			remedy: "measure for a second at least",
		});
	const { paused, windowNs } = found;
	const figure = formatDuration(paused);
	const limit = formatDuration(windowNs * GC_SHARE);
	const said = `garbage collection stopped the generator for ${figure} of the window${nameOf(facts, worst)}`;
	return paused > windowNs * GC_SHARE
		? result("gcPause", "warn", said, {
				figure,
				limit,
				remedy: "send smaller messages, or fewer of them",
			})
		: result("gcPause", "ok", said, { figure, limit });
};

// --- internal ---

const READ_PROC =
	"measure on Linux, where /proc and the control group can be read";

interface OwnCpu {
	readonly parts: readonly ClientPart[];
	/** Cores that they used, that there are, and the one by the other. */
	readonly perSecond: number;
	readonly cores: number;
	readonly share: number;
}

/** Machines that clients ran on, each with its clients: all but those on other hosts share this one. */
function generatorMachines({ collected }: Facts): {
	readonly parts: readonly ClientPart[];
	readonly here: boolean;
	readonly cores: number;
}[] {
	const told = collected.parts.filter((part) => part.client !== null);
	const here = told.filter((part) => !isElsewhere(part));
	const elsewhere = told.filter(isElsewhere);
	return [...(here.length > 0 ? [here] : []), ...elsewhere.map((p) => [p])].map(
		(parts) => ({
			parts,
			here: parts === here,
			cores: Math.max(...parts.map((p) => p.client?.cores ?? 0)),
		}),
	);
}

/** On another host: a container is on this one. */
function isElsewhere({ end }: ClientPart): boolean {
	return end?.kind === "ssh";
}

/** Those that generators and nodes of the broker ran on, each with what was sampled there. */
function machinesOf({ collected }: Facts): Machine[] {
	const elsewhere = collected.parts.filter(isElsewhere);
	const here = { client: null, samples: collected.resources };
	return [
		...(elsewhere.length < collected.parts.length ? [here] : []),
		...elsewhere.map((client) => ({
			client,
			samples: collected.hosts.find((h) => h.client === client)?.samples ?? [],
		})),
		...collected.nodes,
	];
}

/** The check of each machine; the worst of them, with the name of the machine where there are several. */
function worstMachine(facts: Facts, check: (machine: Machine) => Check): Check {
	const machines = machinesOf(facts);
	return machines.length === 0
		? check({ client: null, samples: facts.collected.resources })
		: worstOf(machines, machines.length > 1 || isFar(machines[0]), check);
}

function isFar(machine: Machine | undefined): boolean {
	return machine?.client != null || machine?.node !== undefined;
}

function worstOf(
	machines: readonly Machine[],
	named: boolean,
	check: (machine: Machine) => Check,
): Check {
	const all = machines.map((machine) => ({ machine, found: check(machine) }));
	const { machine, found } = (all.find(
		({ found }) => found.status === "warn",
	) ??
		all.find(({ found }) => found.status === "unknown") ??
		all[0]) as (typeof all)[number];
	return found.status === "ok" || !named
		? found
		: { ...found, detail: `${machineName(machine)}: ${found.detail}` };
}

function machineName({ client, node }: Machine): string {
	if (node !== undefined) return `the host of the broker's node ${node}`;
	return client === null ? "this machine" : clientName(client);
}

/** Whom a limit on that machine holds back. */
function held({ node }: Machine): string {
	return node === undefined ? "mqbench" : "the broker";
}

/** The client with the largest figure; null: none has told. */
function worstPart(
	{ collected }: Facts,
	figure: (part: ClientPart) => number | null,
): ClientPart | null {
	let worst: { part: ClientPart; figure: number } | null = null;
	for (const part of collected.parts) {
		const found = figure(part);
		if (found !== null && (worst === null || found > worst.figure))
			worst = { part, figure: found };
	}
	return worst?.part ?? null;
}

/** ", on client 1 (bench@10.0.0.11)"; of a single client nothing. */
function nameOf({ collected }: Facts, part: ClientPart | null): string {
	return part === null || collected.parts.length === 1
		? ""
		: `, on ${clientName(part)}`;
}

/**
 * Growth of a counter of the machine over the window, from the last usable sample before it to the first after it; null: not
 * read, or it went backwards.
 */
function overWindow(
	{ collected }: Facts,
	{ samples }: Machine,
	counter: (line: ResourceLine) => number | null,
	usable: (line: ResourceLine) => boolean = () => true,
): number | null {
	const resources = samples.filter(usable);
	const { startNs, endNs } = windowOf(collected);
	const t0Ms = collected.t0Ms ?? Number.NaN;
	const fromMs = t0Ms + startNs / 1e6;
	const before = resources.findLast((r) => r.unixMs <= fromMs) ?? resources[0];
	const after =
		resources.find((r) => r.unixMs >= t0Ms + endNs / 1e6) ?? resources.at(-1);
	if (before === undefined || after === undefined || before === after)
		return null;
	const [from, to] = [counter(before), counter(after)];
	return from === null || to === null || to < from ? null : to - from;
}

function sumOf(values: readonly number[]): number {
	return values.reduce((a, b) => a + b, 0);
}

function percent(share: number): string {
	return `${Number((share * 100).toPrecision(2))} %`;
}
