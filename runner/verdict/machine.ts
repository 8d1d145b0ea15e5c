import { percentile } from "../histogram/percentiles.ts";
import type { ResourceLine } from "../run/resource-file.ts";
import { formatCount, formatDuration } from "../units.ts";
import { type CheckFunction, result } from "./check.ts";
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

/** Had the generator the machine that it needed? All of these are warnings: they say why, the gates say whether it mattered. */

export const cpuQuota: CheckFunction = (facts) => {
	const grown = overWindow(facts, (line) => line.machine.throttled);
	if (grown === null)
		return result(
			"cpuQuota",
			"unknown",
			"whether the control group held mqbench back cannot be read",
			{ remedy: READ_PROC },
		);
	return grown > 0
		? result(
				"cpuQuota",
				"warn",
				`the control group's CPU quota held mqbench back in ${formatCount(grown)} periods of the window`,
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
};

export const steal: CheckFunction = (facts) => {
	const taken = overWindow(facts, (line) => line.machine.stealNs);
	const all = overWindow(facts, (line) => line.machine.cpuNs);
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
};

/** What neither generator nor broker used was taken from both: a broker that is starved is not slow. */
export const others: CheckFunction = (facts) => {
	// noop is no process.
	const brokerOf = (line: ResourceLine) =>
		facts.collected.plan.broker === "noop" ? 0 : line.broker?.cpuNs;
	// A closed load's generator may be gone before the first sample after its window.
	const grown = (counter: (line: ResourceLine) => number | null) =>
		overWindow(
			facts,
			counter,
			(line) => line.generator?.cpuNs != null && brokerOf(line) != null,
		);
	const all = grown((line) => line.machine.cpuNs);
	const idle = grown((line) => line.machine.idleNs);
	const taken = grown((line) => line.machine.stealNs);
	const generator = grown((line) => line.generator?.cpuNs ?? null);
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
	return share > OTHERS_SHARE
		? result(
				"others",
				"warn",
				`other processes used ${figure} of the machine's CPU time, generator and broker ${percent((generator + broker) / all)}`,
				{
					figure,
					limit,
					remedy: "stop what else runs on the machine, and measure again",
				},
			)
		: result(
				"others",
				"ok",
				`other processes used ${figure} of the machine's CPU time`,
				{ figure, limit },
			);
};

export const ownCpu: CheckFunction = (facts) => {
	const ticks = ticksOfWindow(facts);
	const used = ticks.reduce((sum, t) => sum + t.cpuNs, 0);
	const { clients } = facts.collected;
	const all = clients.reduce((sum, c) => sum + c.cores, 0);
	const cores =
		clients.length === 1 ? Math.min(all, facts.quotaCores ?? all) : all;
	if (used === 0 || cores === 0)
		return result(
			"ownCpu",
			"unknown",
			"the generator's own CPU time cannot be read",
			{ remedy: "measure on Linux or macOS, for a second at least" },
		);
	const perSecond = used / ticks.length / 1e9;
	const figure = `${Number(perSecond.toPrecision(2))} of ${formatCount(cores)} cores`;
	const limit = percent(OWN_CPU_SHARE);
	return perSecond > OWN_CPU_SHARE * cores
		? result(
				"ownCpu",
				"warn",
				`the generator itself used ${figure}, more than ${limit}`,
				{
					figure,
					limit,
					remedy: "give it more cores, or lower the rate",
				},
			)
		: result("ownCpu", "ok", `the generator itself used ${figure}`, {
				figure,
				limit,
			});
};

export const schedLatency: CheckFunction = (facts) => {
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
				`one in 1000 of the generator's goroutines waited longer than ${figure} for a core`,
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
	const ticks = ticksOfWindow(facts);
	if (ticks.length === 0)
		return result("gcPause", "unknown", "no second of the window was counted", {
			remedy: "measure for a second at least",
		});
	const paused = ticks.reduce((sum, t) => sum + t.gcPauseNs, 0);
	const windowNs = ticks.length * 1e9;
	const figure = formatDuration(paused);
	const limit = formatDuration(windowNs * GC_SHARE);
	return paused > windowNs * GC_SHARE
		? result(
				"gcPause",
				"warn",
				`garbage collection stopped the generator for ${figure} of the window`,
				{ figure, limit, remedy: "send smaller messages, or fewer of them" },
			)
		: result(
				"gcPause",
				"ok",
				`garbage collection stopped the generator for ${figure} of the window`,
				{ figure, limit },
			);
};

// --- internal ---

const READ_PROC =
	"measure on Linux, where /proc and the control group can be read";

/**
 * Growth of a counter of the machine over the window, from the last usable sample before it to the first after it; null: not
 * read, or it went backwards.
 */
function overWindow(
	{ collected }: Facts,
	counter: (line: ResourceLine) => number | null,
	usable: (line: ResourceLine) => boolean = () => true,
): number | null {
	const { clients } = collected;
	const resources = collected.resources.filter(usable);
	const { startNs, endNs } = windowOf(collected);
	const t0Ms = Number(clients[0]?.t0UnixNs ?? Number.NaN) / 1e6;
	const fromMs = t0Ms + startNs / 1e6;
	const before = resources.findLast((r) => r.unixMs <= fromMs) ?? resources[0];
	const after =
		resources.find((r) => r.unixMs >= t0Ms + endNs / 1e6) ?? resources.at(-1);
	if (before === undefined || after === undefined || before === after)
		return null;
	const [from, to] = [counter(before), counter(after)];
	return from === null || to === null || to < from ? null : to - from;
}

function percent(share: number): string {
	return `${Number((share * 100).toPrecision(2))} %`;
}
