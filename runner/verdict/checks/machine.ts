import type { ClientPart, Machine } from "../../evidence/collect.ts";
import { largestOf } from "../../extremes.ts";
import { secondsOf } from "../../model/line-seconds.ts";
import type { ResourceLine } from "../../model/resource-file.ts";
import { isElsewhere as isKindElsewhere } from "../../model/run-file.ts";
import { sum } from "../../stats/sum.ts";
import { machineName } from "../../text/machine-checks.ts";
import { percent } from "../../text/percent.ts";
import { say, sayAt } from "../../text/say.ts";
import { formatCount, formatDuration } from "../../units.ts";
import { type Facts, ticksOfWindow, windowOf } from "../facts.ts";
import { saturationOf } from "../saturation.ts";
import { type Check, type Finding, unknown } from "./check.ts";
import {
	GC_SHARE,
	IDLE_SHARE,
	OTHERS_SHARE,
	OWN_CPU_SHARE,
	SATURATED_SHARE,
	STEAL_SHARE,
} from "./limits.ts";
import { clientName } from "./run.ts";

/** Had generator and broker the CPU that they needed? All of these are warnings: they say why, the gates say whether it mattered. */

export const cpuQuota: Check = {
	name: "cpuQuota",
	judge: (facts) =>
		worstMachine(facts, (machine) => {
			const broker = machine.node !== undefined;
			const grown = overWindow(facts, machine, (line) => line.machine.throttled);
			if (grown === null) return unknown(say("quota-unknown", { broker }), say("read-proc"));
			const figure = formatCount(grown);
			return {
				...(grown > 0
					? { status: "warn", said: say("quota-hit", { broker, periods: grown }) }
					: { status: "ok", said: say("quota-none") }),
				figure,
				limit: "0",
				remedy: say("more-cpu"),
			};
		}),
};

export const steal: Check = {
	name: "steal",
	judge: (facts) =>
		worstMachine(facts, (machine) => {
			const taken = overWindow(facts, machine, (line) => line.machine.stealNs);
			const all = overWindow(facts, machine, (line) => line.machine.cpuNs);
			if (taken === null || !all) return unknown(say("steal-unknown"), say("read-proc"));
			const share = taken / all;
			const much = share > STEAL_SHARE;
			return {
				status: much ? "warn" : "ok",
				said: say("steal", { share, much }),
				figure: percent(share),
				limit: percent(STEAL_SHARE),
				remedy: say("dedicated-cores"),
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
	applies: ({ plan, nodes, run, resources }) =>
		plan.target === "local" ||
		(plan.target === "existing" && resources.some(({ broker }) => broker)) ||
		(nodes.length > 0 && !run?.sameHost),
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
		if (used === undefined) return unknown(say("own-cpu-unknown"), say("read-cpu"));
		const { perSecond, cores, parts } = used;
		const figure = `${Number(perSecond.toPrecision(2))} of ${formatCount(cores)} cores`;
		const limit = percent(OWN_CPU_SHARE);
		const [first] = parts;
		const alone = facts.collected.parts.length === 1 || parts.length > 1;
		const much = perSecond > OWN_CPU_SHARE * cores;
		return {
			status: much ? "warn" : "ok",
			said: say("own-cpu", {
				cores: perSecond,
				ofCores: cores,
				clients: parts.length,
				client: alone || first === undefined ? null : clientName(first),
				aboveShare: much ? OWN_CPU_SHARE : null,
			}),
			figure,
			limit,
			remedy: say("more-cores"),
		};
	},
};

/** Cores that a client used in the window; null: it has not told. */
export function coresOf(facts: Pick<Facts, "collected">, part: ClientPart): number | null {
	const ticks = ticksOfWindow(facts, part.ticks);
	return ticks.length === 0
		? null
		: sum(ticks.map((t) => t.cpuNs)) / sum(ticks.map(secondsOf)) / 1e9;
}

/**
 * Was there a free core when generator or broker wanted one? What fails without is the machine's doing as well: the FAIL stands, with its
 * `cause`; under `strict` it is INVALID.
 */
export const cores: Check = {
	name: "cores",
	judge: (facts, judgements) =>
		worstMachine(facts, (machine) => {
			const saturation = saturationOf(machine, facts);
			if (saturation === null) return unknown(say("cores-unknown"), say("read-proc"));
			const { idle, wait, share } = saturation;
			const values = { idleShare: idle, waitShare: wait };
			const lines = judgements.filter((j) => j.cause).map((j) => j.sla);
			const { strict } = facts.collected.plan;
			return {
				...(share < SATURATED_SHARE
					? { status: "ok", said: say("cores", values) }
					: lines.length === 0
						? { status: "warn", said: say("cores-saturated", { ...values, share }) }
						: {
								status: strict ? "invalid" : "warn",
								said: say("cores-decided", { ...values, share, lines }),
							}),
				figure: `${percent(idle)} idle`,
				limit: percent(IDLE_SHARE),
				remedy: say("room-for-both"),
			};
		}),
};

/** Did garbage collection keep the generator waiting? */
export const gcPause: Check = {
	name: "gcPause",
	judge(facts) {
		const pauses = (part: ClientPart) => {
			const ticks = ticksOfWindow(facts, part.ticks);
			const paused = ticks.reduce((sum, t) => sum + t.gcPauseNs, 0);
			return { paused, windowNs: sum(ticks.map(secondsOf)) * 1e9 };
		};
		const worst = worstPart(facts, (part) => {
			const { paused, windowNs } = pauses(part);
			return windowNs === 0 ? null : paused / windowNs;
		});
		if (worst === null) return unknown(say("gc-unknown"), say("a-second-at-least"));
		const { paused, windowNs } = pauses(worst);
		const figure = formatDuration(paused);
		return {
			status: paused > windowNs * GC_SHARE ? "warn" : "ok",
			said: say("gc", { pausedNs: paused, client: clientOf(facts, worst) }),
			figure,
			limit: formatDuration(windowNs * GC_SHARE),
			remedy: say("smaller-messages"),
		};
	},
};

// --- internal ---

function othersOn(machine: Machine, facts: Facts): Finding {
	const alone = machine.node !== undefined;
	const brokerOf = (line: ResourceLine) => (facts.collected.plan.server ? line.broker?.cpuNs : 0);
	const generatorOf = (line: ResourceLine) => (alone ? 0 : line.generator?.cpuNs);
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
		return unknown(say("others-unknown"), say("read-proc"));
	const own = idle + (taken ?? 0) + generator + broker;
	const share = Math.max(0, all - own) / all;
	const values = { share, brokerHost: alone };
	const ownShare = (generator + broker) / all;
	const much = share > OTHERS_SHARE;
	return {
		status: much ? "warn" : "ok",
		said: much ? say("others-much", { ...values, ownShare }) : say("others", values),
		figure: percent(share),
		limit: percent(OTHERS_SHARE),
		remedy: say("stop-others-again", { brokerHost: alone }),
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
	return [...(here.length > 0 ? [here] : []), ...elsewhere.map((p) => [p])].map((parts) => ({
		parts,
		here: parts === here,
		cores: largestOf(parts.map((p) => p.client?.cores ?? 0)),
	}));
}

/** On another host: a container is on this one. */
function isElsewhere({ end }: ClientPart): boolean {
	return end != null && isKindElsewhere(end.kind);
}

/** Those that generators and nodes of the broker ran on, each with what was sampled there. */
export function machinesOf({ collected }: Facts): Machine[] {
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
export function worstMachine(facts: Facts, check: (machine: Machine) => Finding): Finding {
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
	const { machine, found } = (all.find(({ found }) => ["warn", "invalid"].includes(found.status)) ??
		all.find(({ found }) => found.status === "unknown") ??
		all[0]) as (typeof all)[number];
	return found.status === "ok" || !named
		? found
		: { ...found, said: sayAt(nameOf(machine), found.said) };
}

export function nameOf({ client, node }: Machine): string {
	return machineName({ client: client && clientName(client), node: node ?? null });
}

/**
 * Growth of a counter of the machine over the window, from the last usable sample before it to the first after it; null: not
 * read, it went backwards, or the load never began.
 */
export function overWindow(
	{ collected }: Facts,
	{ samples }: Machine,
	counter: (line: ResourceLine) => number | null,
	usable: (line: ResourceLine) => boolean = () => true,
): number | null {
	const resources = samples.filter(usable);
	const { startNs, endNs } = windowOf(collected);
	const { t0Ms } = collected;
	if (t0Ms === null) return null;
	const fromMs = t0Ms + startNs / 1e6;
	const before = resources.findLast((r) => r.unixMs <= fromMs) ?? resources[0];
	const after = resources.find((r) => r.unixMs >= t0Ms + endNs / 1e6) ?? resources.at(-1);
	if (before === undefined || after === undefined || before === after) return null;
	const [from, to] = [counter(before), counter(after)];
	return from === null || to === null || to < from ? null : to - from;
}

/** The client with the largest figure; null: none has told. */
function worstPart(
	{ collected }: Facts,
	figure: (part: ClientPart) => number | null,
): ClientPart | null {
	let worst: { part: ClientPart; figure: number } | null = null;
	for (const part of collected.parts) {
		const value = figure(part);
		if (value !== null && (worst === null || value > worst.figure)) worst = { part, figure: value };
	}
	return worst?.part ?? null;
}

/** null: a single client. */
function clientOf({ collected }: Facts, part: ClientPart | null): string | null {
	return part === null || collected.parts.length === 1 ? null : clientName(part);
}
