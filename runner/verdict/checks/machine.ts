import type { ClientPart, Machine } from "../../evidence/collect.ts";
import { largestOf } from "../../extremes.ts";
import { secondsOf } from "../../model/line-seconds.ts";
import type { ResourceLine } from "../../model/resource-file.ts";
import { sum } from "../../stats/sum.ts";
import { percent } from "../../text/percent.ts";
import { formatCount, plural } from "../../units.ts";
import { clientName, type Facts, isElsewhere, ticksOfWindow, windowOf } from "../facts.ts";
import {
	grown,
	IDLE_SHARE,
	machineName,
	machinesOf,
	saturatedText,
	saturationOf,
	THIS_MACHINE,
} from "../saturation.ts";
import {
	type Check,
	compared,
	type Finding,
	type Reading,
	type Threshold,
	threshold,
	unknown,
} from "./check.ts";

/** Did generator and broker get the CPU they needed? All but the clock only warn: they explain, and the SLA lines decide. */

const READ_PROC = "measure on Linux, where /proc and the control group can be read";

/** A FAIL without a free core stands, with its `cause`; `strict` makes it INVALID. */
export const cores: Check = {
	name: "cores",
	comesTo: "warn",
	when: "in > 10 % of the window a machine was saturated: < 10 % of its CPU time was idle, and the processes of the run waited for a core > 10 % of the time they wanted one. A FAIL that this [explains](#saturation) has `cause: machine` in result.json, and is invalid under `strict: true`",
	judge: (facts, judgements) =>
		worstOf(machinesOf(facts), (machine) => {
			const found = saturationOf(machine, facts);
			if (found === null) return unknown("how busy the cores were cannot be read", READ_PROC);
			const { idle, wait, share } = found;
			// Worth a warning even if no SLA line failed by it.
			const saturated = share >= 0.1;
			const lines = saturated
				? judgements.filter((j) => j.cause === "machine").map((j) => j.sla)
				: [];
			const decided = lines.length > 0;
			return {
				status: !saturated ? "ok" : decided && facts.collected.plan.strict ? "invalid" : "warn",
				text: `${saturatedText(found)}${decided ? `: that decided ${lines.join(" and ")}` : ""}`,
				values: { idleShare: idle, waitShare: wait, share, lines },
				figure: `${percent(idle)} idle`,
				limit: percent(IDLE_SHARE),
				remedy:
					"stop what else runs there, give it more cores, give the load generator a machine of its own, or lower the rate",
			};
		}),
};

export const cpuQuota = onMachines({
	name: "cpuQuota",
	when: "the control group's `nr_throttled` grew in the window",
	above: "warn",
	limit: 0,
	show: formatCount,
	remedy: "give the container or job more CPU, or no limit",
	read(facts, machine) {
		const slowed = machine.node === undefined ? "mqbench" : "the broker";
		const periods = overWindow(facts, machine, (line) => line.machine.throttled);
		if (periods === null)
			return unknown(`whether a CPU quota slowed ${slowed} down cannot be read`, READ_PROC);
		const text = `a CPU quota held ${slowed} back in ${plural(periods, "period")} of the window`;
		return { value: periods, text, values: { periods } };
	},
});

export const steal = onMachines({
	name: "steal",
	when: "the hypervisor took > 2 % of the machine's CPU time",
	above: "warn",
	// More wakes generator and broker late.
	limit: 0.02,
	show: percent,
	remedy: "use a machine with dedicated cores, or measure again at a quieter time",
	read(facts, machine) {
		const taken = overWindow(facts, machine, (line) => line.machine.stealNs);
		const all = overWindow(facts, machine, (line) => line.machine.cpuNs);
		if (taken === null || !all)
			return unknown("what the hypervisor took cannot be read", READ_PROC);
		const share = taken / all;
		const text = `the hypervisor took ${percent(share)} of the CPU time`;
		return { value: share, text, values: { share } };
	},
});

/** Only for this machine and hosts of broker nodes: elsewhere the broker's processes are unknown. */
export const others = onMachines({
	name: "others",
	when: "other processes used > 25 % of the machine's CPU time. Target local, existing with the broker's process on this machine, and broker hosts without a client",
	/** Broker processes can be identified, and the others include no generator. */
	applies: ({ plan, nodes, run, resources }) =>
		plan.target === "local" ||
		(plan.target === "existing" && resources.some(({ broker }) => broker)) ||
		(nodes.length > 0 && !run?.sameHost),
	above: "warn",
	// A quarter, because kernel work for sockets and disks counts as others'.
	limit: 0.25,
	show: percent,
	remedy: "stop what else runs there, and measure again",
	machines: ({ collected: { nodes, resources } }) =>
		nodes.length > 0 ? nodes : [{ client: null, samples: resources }],
	read(facts, machine) {
		const alone = machine.node !== undefined;
		const brokerOf = (line: ResourceLine) => (facts.collected.plan.server ? line.broker?.cpuNs : 0);
		const generatorOf = (line: ResourceLine) => (alone ? 0 : line.generator?.cpuNs);
		// A closed load's generator may exit before the first sample after its window.
		const usable = (line: ResourceLine) => generatorOf(line) != null && brokerOf(line) != null;
		const grew = (counter: (line: ResourceLine) => number | null | undefined) =>
			overWindow(facts, machine, counter, usable);
		const all = grew((line) => line.machine.cpuNs);
		const idle = grew((line) => line.machine.idleNs);
		const [generator, broker] = [grew(generatorOf), grew(brokerOf)];
		if (!all || idle === null || generator === null || broker === null)
			return unknown("the CPU time of other processes cannot be read", READ_PROC);
		const taken = grew((line) => line.machine.stealNs) ?? 0;
		const share = Math.max(0, all - (idle + taken + generator + broker)) / all;
		const where = alone ? " on the broker's host" : "";
		const text = `other processes used ${percent(share)} of the CPU time${where}, those of the run ${percent((generator + broker) / all)}`;
		return { value: share, text, values: { share } };
	},
});

export const ownCpu = threshold({
	name: "ownCpu",
	when: "the generator used > 80 % of its cores, or of its quota",
	above: "warn",
	// Above this share it waits for CPU at its own peaks.
	limit: 0.8,
	show: percent,
	remedy: "give it more cores, or lower the rate",
	read(facts) {
		const began = facts.collected.parts.filter((part) => part.client !== null);
		// Clients on this host share its cores.
		const here = began.filter((part) => !isElsewhere(part));
		const [used] = [here, ...began.filter(isElsewhere).map((part) => [part])]
			.map((parts) => {
				const all = largestOf(parts.map((part) => part.client?.cores ?? 0));
				const ofCores = parts === here ? Math.min(all, facts.quotaCores ?? all) : all;
				return { parts, ofCores, cores: sum(parts.map((part) => coresOf(facts, part) ?? 0)) };
			})
			.filter(({ cores, ofCores }) => cores > 0 && ofCores > 0)
			.sort((a, b) => b.cores / b.ofCores - a.cores / a.ofCores);
		if (used === undefined)
			return unknown(
				"the generator's own CPU time cannot be read",
				"measure on Linux or macOS, for a second at least",
			);
		const { cores, ofCores, parts } = used;
		const clients = parts.length;
		const figure = `${Number(cores.toPrecision(2))} of ${formatCount(ofCores)} cores`;
		const on = facts.collected.parts.length > 1 ? ` on ${clientName(parts[0] as ClientPart)}` : "";
		const who = clients > 1 ? `, ${clients} clients on this machine` : on;
		const text = `the generator itself used ${figure}${who}`;
		return { value: cores / ofCores, text, values: { cores, ofCores, clients }, figure };
	},
});

/** Reading these costs a trip to the kernel or a device, or they tick in ms. */
export const SLOW_CLOCKS: readonly string[] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies"];

export const clockSource: Check = {
	name: "clockSource",
	comesTo: "invalid",
	when: "hpet, acpi_pm, jiffies, refined-jiffies (xen: warning)",
	judge({ clockSource: source }) {
		if (source === null)
			return unknown(
				"the clock source cannot be read",
				"measure on Linux, where /sys says which clock the kernel uses",
			);
		const status = SLOW_CLOCKS.includes(source) ? "invalid" : source === "xen" ? "warn" : "ok";
		return {
			status,
			text: `clock source ${source}${status === "ok" ? "" : " is too slow or too coarse to time messages"}`,
			values: { source },
			figure: source,
			remedy: "use a machine whose kernel trusts tsc, kvm-clock or arch_sys_counter",
		};
	},
};

export function coresOf(facts: Pick<Facts, "collected">, part: ClientPart): number | null {
	const ticks = ticksOfWindow(facts, part.ticks);
	return ticks.length === 0
		? null
		: sum(ticks.map((t) => t.cpuNs)) / sum(ticks.map(secondsOf)) / 1e9;
}

// --- internal ---

/** The worst machine counts; default: all that ran generators or the broker. */
function onMachines({
	machines = machinesOf,
	read,
	...row
}: Threshold & {
	machines?(facts: Facts): readonly Machine[];
	read(facts: Facts, machine: Machine): Reading | Finding;
}): Check {
	return {
		...row,
		comesTo: row.above,
		judge: (facts) => worstOf(machines(facts), (machine) => compared(row, read(facts, machine))),
	};
}

/** The worst finding, with the machine's name unless it is only this one. */
function worstOf(machines: readonly Machine[], check: (machine: Machine) => Finding): Finding {
	const all = machines.map((machine) => ({ where: machineName(machine), found: check(machine) }));
	const is = (...statuses: Finding["status"][]) =>
		all.find(({ found }) => statuses.includes(found.status));
	const { where, found } = (is("warn", "invalid") ?? is("unknown") ?? all[0]) as (typeof all)[0];
	return found.status === "ok" || (all.length === 1 && where === THIS_MACHINE)
		? found
		: { ...found, text: `${where}: ${found.text}` };
}

/** Counter growth from the last usable sample before the window to the first after it. Null if unread, decreased, or never begun. */
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
