import { hasProcess } from "../../brokers/index.ts";
import type { ResourceLine } from "../../model/resource-file.ts";
import type { ClientPart, Machine } from "../../run/collect.ts";
import { sum } from "../../stats/sum.ts";
import { formatCount } from "../../units.ts";
import { type Facts, ticksOfWindow, windowOf } from "../facts.ts";
import { type Check, type Finding, percent, unknown } from "./check.ts";
import { clientName } from "./clients.ts";
import { OTHERS_SHARE, OWN_CPU_SHARE, STEAL_SHARE } from "./limits.ts";

/** Had generator and broker the CPU that they needed? All of these are warnings: they say why, the gates say whether it mattered. */

export const cpuQuota: Check = {
	name: "cpuQuota",
	judge: (facts) =>
		worstMachine(facts, (machine) => {
			const throttled = machine.node === undefined ? "mqbench" : "the broker";
			const grown = overWindow(
				facts,
				machine,
				(line) => line.machine.throttled,
			);
			if (grown === null)
				return unknown(
					`whether the control group held ${throttled} back cannot be read`,
					READ_PROC,
				);
			const figure = formatCount(grown);
			return {
				...(grown > 0
					? {
							status: "warn",
							detail: `the control group's CPU quota held ${throttled} back in ${figure} periods of the window`,
						}
					: { status: "ok", detail: "no CPU quota held mqbench back" }),
				...{ figure, limit: "0" },
				remedy: "give the container or job more CPU, or no limit",
			};
		}),
};

export const steal: Check = {
	name: "steal",
	judge: (facts) =>
		worstMachine(facts, (machine) => {
			const taken = overWindow(facts, machine, (line) => line.machine.stealNs);
			const all = overWindow(facts, machine, (line) => line.machine.cpuNs);
			if (taken === null || !all)
				return unknown("what the hypervisor took cannot be read", READ_PROC);
			const figure = percent(taken / all);
			const much = taken / all > STEAL_SHARE;
			return {
				status: much ? "warn" : "ok",
				detail: `the hypervisor took ${figure} of the ${much ? "machine's " : ""}CPU time`,
				...{ figure, limit: percent(STEAL_SHARE) },
				remedy:
					"use a machine with dedicated cores, or measure again at a quieter time",
			};
		}),
};

/**
 * What neither generator nor broker used was taken from both: a broker that is starved is not slow. Of this machine and of hosts of the broker's
 * nodes alone: of another one nobody knows which of its processes are the broker's.
 */
export const others: Check = {
	name: "others",
	/** The broker's processes are known, and no generator's are among the others. */
	applies: ({ plan, nodes, run }) =>
		plan.target === "local" || (nodes.length > 0 && !run?.sameHost),
	judge(facts) {
		const { nodes, resources } = facts.collected;
		return worstOf(
			nodes.length > 0 ? nodes : [{ client: null, samples: resources }],
			nodes.length > 1,
			(machine) => othersOn(machine, facts),
		);
	},
};

export const ownCpu: Check = {
	name: "ownCpu",
	judge(facts) {
		const [used] = generatorMachines(facts)
			.map(({ parts, here, cores: all }) => {
				// Processes on one machine share its cores.
				const perSecond = sum(parts.map((part) => coresOf(facts, part) ?? 0));
				const cores = here ? Math.min(all, facts.quotaCores ?? all) : all;
				return { parts, perSecond, cores };
			})
			.filter(({ perSecond, cores }) => perSecond > 0 && cores > 0)
			.sort((a, b) => b.perSecond / b.cores - a.perSecond / a.cores);
		if (used === undefined)
			return unknown(
				"the generator's own CPU time cannot be read",
				"measure on Linux or macOS, for a second at least",
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
		const much = perSecond > OWN_CPU_SHARE * cores;
		return {
			status: much ? "warn" : "ok",
			detail: `the generator itself used ${figure}${where}${much ? `, more than ${limit}` : ""}`,
			...{ figure, limit, remedy: "give it more cores, or lower the rate" },
		};
	},
};

/** Cores that a client used in the window; null: it has not told. */
export function coresOf(
	facts: Pick<Facts, "collected">,
	part: ClientPart,
): number | null {
	const ticks = ticksOfWindow(facts, part.ticks);
	return ticks.length === 0
		? null
		: sum(ticks.map((t) => t.cpuNs)) / ticks.length / 1e9;
}

// --- internal ---

const READ_PROC =
	"measure on Linux, where /proc and the control group can be read";

function othersOn(machine: Machine, facts: Facts): Finding {
	const alone = machine.node !== undefined;
	const brokerOf = (line: ResourceLine) =>
		hasProcess(facts.collected.plan) ? line.broker?.cpuNs : 0;
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
		return unknown("what other processes used cannot be told", READ_PROC);
	const own = idle + (taken ?? 0) + generator + broker;
	const share = Math.max(0, all - own) / all;
	const figure = percent(share);
	const used = `other processes used ${figure} of ${alone ? "the CPU time on the broker's host" : "the machine's CPU time"}`;
	const much = share > OTHERS_SHARE;
	return {
		status: much ? "warn" : "ok",
		detail: much
			? `${used}, ${alone ? "the broker" : "generator and broker"} ${percent((generator + broker) / all)}`
			: used,
		...{ figure, limit: percent(OTHERS_SHARE) },
		remedy: `stop what else runs on ${alone ? "it" : "the machine"}, and measure again`,
	};
}

/** Machines that clients ran on, each with its clients: all but those on other hosts share this one. */
function generatorMachines({ collected }: Facts): {
	readonly parts: readonly ClientPart[];
	readonly here: boolean;
	readonly cores: number;
}[] {
	const began = collected.parts.filter((part) => part.client !== null);
	const here = began.filter((part) => !isElsewhere(part));
	const elsewhere = began.filter(isElsewhere);
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
function worstMachine(
	facts: Facts,
	check: (machine: Machine) => Finding,
): Finding {
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
	check: (machine: Machine) => Finding,
): Finding {
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
