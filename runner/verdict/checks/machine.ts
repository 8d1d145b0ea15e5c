import type { ClientPart, Machine } from "../../evidence/collect.ts";
import { largestOf } from "../../extremes.ts";
import { secondsOf } from "../../model/line-seconds.ts";
import type { ResourceLine } from "../../model/resource-file.ts";
import { sum } from "../../stats/sum.ts";
import { percent } from "../../text/percent.ts";
import { formatCount, formatDuration, plural } from "../../units.ts";
import { type Facts, ticksOfWindow, windowOf } from "../facts.ts";
import { grown, type Saturation, saturationOf } from "../saturation.ts";
import { type Check, compared, type Finding, unknown } from "./check.ts";
import {
	GC_SHARE,
	IDLE_SHARE,
	OTHERS_SHARE,
	OWN_CPU_SHARE,
	SATURATED_SHARE,
	STEAL_SHARE,
} from "./limits.ts";
import { clientName, isElsewhere } from "./run.ts";

/** Had generator and broker the CPU that they needed? All of these are warnings: they say why, the gates say whether it mattered. */

export const cpuQuota: Check = {
	name: "cpuQuota",
	judge: (facts) =>
		worstOf(machinesOf(facts), (machine) => {
			const slowed = machine.node === undefined ? "mqbench" : "the broker";
			const periods = overWindow(facts, machine, (line) => line.machine.throttled);
			if (periods === null)
				return unknown(`whether a CPU quota slowed ${slowed} down cannot be read`, READ_PROC);
			return compared(periods, {
				limit: 0,
				above: "warn",
				show: formatCount,
				text: `a CPU quota held ${slowed} back in ${plural(periods, "period")} of the window`,
				values: { periods },
				remedy: "give the container or job more CPU, or no limit",
			});
		}),
};

export const steal: Check = {
	name: "steal",
	judge: (facts) =>
		worstOf(machinesOf(facts), (machine) => {
			const taken = overWindow(facts, machine, (line) => line.machine.stealNs);
			const all = overWindow(facts, machine, (line) => line.machine.cpuNs);
			if (taken === null || !all)
				return unknown("what the hypervisor took cannot be read", READ_PROC);
			const share = taken / all;
			return compared(share, {
				limit: STEAL_SHARE,
				above: "warn",
				show: percent,
				text: `the hypervisor took ${percent(share)} of the CPU time`,
				values: { share },
				remedy: "use a machine with dedicated cores, or measure again at a quieter time",
			});
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
		const machines = nodes.length > 0 ? nodes : [{ client: null, samples: resources }];
		return worstOf(machines, (machine) => othersOn(machine, facts));
	},
};

export const ownCpu: Check = {
	name: "ownCpu",
	judge(facts) {
		const began = facts.collected.parts.filter((part) => part.client !== null);
		// Processes on one machine share its cores: all but those on other hosts are on this one.
		const here = began.filter((part) => !isElsewhere(part));
		const [used] = [here, ...began.filter(isElsewhere).map((part) => [part])]
			.map((parts) => {
				const all = largestOf(parts.map((part) => part.client?.cores ?? 0));
				return {
					parts,
					perSecond: sum(parts.map((part) => coresOf(facts, part) ?? 0)),
					cores: parts === here ? Math.min(all, facts.quotaCores ?? all) : all,
				};
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
		const [first] = parts;
		const who =
			parts.length > 1
				? `, ${parts.length} clients on this machine`
				: onClient(facts, " on ", first ?? null);
		return {
			status: perSecond > OWN_CPU_SHARE * cores ? "warn" : "ok",
			text: `the generator itself used ${figure}${who}`,
			values: { cores: perSecond, ofCores: cores, clients: parts.length },
			figure,
			limit: percent(OWN_CPU_SHARE),
			remedy: "give it more cores, or lower the rate",
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
		worstOf(machinesOf(facts), (machine) => {
			const found = saturationOf(machine, facts);
			if (found === null) return unknown("how busy the cores were cannot be read", READ_PROC);
			const { idle, wait, share } = found;
			const saturated = share >= SATURATED_SHARE;
			const lines = saturated ? judgements.filter((j) => j.cause).map((j) => j.sla) : [];
			const decided = lines.length > 0;
			return {
				status: !saturated ? "ok" : decided && facts.collected.plan.strict ? "invalid" : "warn",
				text: `${saturatedText(found)}${decided ? `: that decided ${lines.join(" and ")}` : ""}`,
				values: { idleShare: idle, waitShare: wait, share, lines },
				figure: `${percent(idle)} idle`,
				limit: percent(IDLE_SHARE),
				remedy:
					"stop what else runs there, give it more cores, run generator and broker on machines of their own, or lower the rate",
			};
		}),
};

/** "no core was free in 98 % of the window (2 % of the CPU time was idle, ...)" */
export function saturatedText({ idle, wait, share }: Saturation): string {
	const waited =
		wait === null
			? ""
			: `, and generator and broker waited for ${percent(wait)} of the time in which they wanted a core`;
	return `no core was free in ${percent(share)} of the window (${percent(idle)} of the CPU time was idle${waited})`;
}

/** Did garbage collection keep the generator waiting? */
export const gcPause: Check = {
	name: "gcPause",
	judge(facts) {
		const [worst] = facts.collected.parts
			.map((part) => {
				const ticks = ticksOfWindow(facts, part.ticks);
				const pausedNs = sum(ticks.map((t) => t.gcPauseNs));
				return { part, pausedNs, windowNs: sum(ticks.map(secondsOf)) * 1e9 };
			})
			.filter(({ windowNs }) => windowNs > 0)
			.sort((a, b) => b.pausedNs / b.windowNs - a.pausedNs / a.windowNs);
		if (worst === undefined)
			return unknown("no second of the window was counted", "measure for a second at least");
		const { part, pausedNs, windowNs } = worst;
		return compared(pausedNs, {
			limit: windowNs * GC_SHARE,
			above: "warn",
			show: formatDuration,
			text: `garbage collection stopped the generator for ${formatDuration(pausedNs)} of the window${onClient(facts, ", on ", part)}`,
			values: { pausedNs },
			remedy: "send smaller messages, or fewer of them",
		});
	},
};

// --- internal ---

const READ_PROC = "measure on Linux, where /proc and the control group can be read";

/** Where there are several, which client it is. */
function onClient({ collected }: Facts, on: string, part: ClientPart | null): string {
	return part === null || collected.parts.length === 1 ? "" : `${on}${clientName(part)}`;
}

function othersOn(machine: Machine, facts: Facts): Finding {
	const alone = machine.node !== undefined;
	const brokerOf = (line: ResourceLine) => (facts.collected.plan.server ? line.broker?.cpuNs : 0);
	const generatorOf = (line: ResourceLine) => (alone ? 0 : line.generator?.cpuNs);
	// A closed load's generator may be gone before the first sample after its window.
	const usable = (line: ResourceLine) => generatorOf(line) != null && brokerOf(line) != null;
	const [all, idle, taken, generator, broker] = [
		(line: ResourceLine) => line.machine.cpuNs,
		(line: ResourceLine) => line.machine.idleNs,
		(line: ResourceLine) => line.machine.stealNs,
		generatorOf,
		brokerOf,
	].map((counter) => overWindow(facts, machine, counter, usable));
	if (!all || idle == null || generator == null || broker == null)
		return unknown("what other processes used cannot be read", READ_PROC);
	const own = idle + (taken ?? 0) + generator + broker;
	const share = Math.max(0, all - own) / all;
	return compared(share, {
		limit: OTHERS_SHARE,
		above: "warn",
		show: percent,
		text: `other processes used ${percent(share)} of the CPU time${alone ? " on the broker's host" : ""}, ${alone ? "the broker" : "generator and broker"} ${percent((generator + broker) / all)}`,
		values: { share },
		remedy: "stop what else runs there, and measure again",
	});
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

/** The worst of what is found on each machine, with the machine's name unless it is this one alone. */
function worstOf(machines: readonly Machine[], check: (machine: Machine) => Finding): Finding {
	const all = machines.map((machine) => ({ where: nameOf(machine), ...check(machine) }));
	const { where, ...found } = (all.find(
		({ status }) => status === "warn" || status === "invalid",
	) ??
		all.find(({ status }) => status === "unknown") ??
		all[0]) as (typeof all)[number];
	return found.status === "ok" || (all.length === 1 && where === HERE)
		? found
		: { ...found, text: `${where}: ${found.text}` };
}

const HERE = "this machine";

/** "the host of the broker's node 2", "client 1 (bench@10.0.0.11)", "this machine" */
export function nameOf({ client, node }: Machine): string {
	if (node !== undefined) return `the host of the broker's node ${node}`;
	return client === null ? HERE : clientName(client);
}

/**
 * Growth of a counter of the machine over the window, from the last usable sample before it to the first after it; null: not
 * read, it went backwards, or the load never began.
 */
function overWindow(
	{ collected }: Facts,
	{ samples }: Machine,
	counter: (line: ResourceLine) => number | null | undefined,
	usable: (line: ResourceLine) => boolean = () => true,
): number | null {
	const { t0Ms } = collected;
	if (t0Ms === null) return null;
	const resources = samples.filter(usable);
	const { startNs, endNs } = windowOf(collected);
	const before = resources.findLast((r) => r.unixMs <= t0Ms + startNs / 1e6) ?? resources[0];
	const after = resources.find((r) => r.unixMs >= t0Ms + endNs / 1e6) ?? resources.at(-1);
	return before === undefined || after === undefined || before === after
		? null
		: grown(counter(before), counter(after));
}
