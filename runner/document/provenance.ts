import { largestOf, smallestOf } from "../extremes.ts";
import type { Result, Run } from "../model/result.ts";
import { sum } from "../stats/sum.ts";
import { percent } from "../text/percent.ts";
import { tell } from "../text/tell.ts";
import { formatUtc, plural } from "../units.ts";
import { type Fold, fold, type Look, link } from "./blocks.ts";

/** When each run was made and what to hold against it: seen before any figure is believed. */
export function provenance(result: Result): Fold[] {
	const { runs, environment } = result;
	if (runs.length === 0) return [];
	const idle = runs.map((run) => idleShare(run, environment?.cores ?? null));
	const items = runs.map((run, i) => ({
		badge: trustOf(run),
		text: [link(placeOf(run, result), `#run-${i + 1}`), ...saidOf(run, idle[i] ?? null)],
	}));
	const starts = runs.flatMap(({ startedAt }) => startedAt ?? []).toSorted();
	const [first] = starts;
	const last = starts.at(-1);
	const sittings = 1 + (environment?.resumed?.length ?? 0);
	const repeated = runs.filter(({ confirms }) => confirms).length;
	const doubted = items.filter((item) => item.badge !== "ok").length;
	const title = [
		first === undefined || last === undefined
			? plural(runs.length, "run")
			: `${plural(runs.length, "run")} begun ${formatUtc(first)}${last === first ? "" : ` to ${formatUtc(last)}`} UTC`,
		sittings === 1 ? "in one sitting" : `in ${sittings} sittings, resumed`,
		...(runs.length > 1
			? [
					runs.every(({ repeat }) => repeat === 1)
						? "each measured once, so nothing is known of the spread from run to run"
						: `up to ${largestOf(runs.map(({ repeat }) => repeat))} repeats`,
				]
			: []),
		...(repeated > 0 ? [`${repeated} repeated to confirm`] : []),
		...idleTexts(idle.filter((share) => share !== null)),
		doubted === 0 ? "no check speaks against any" : `checks speak against ${doubted} of them`,
	].join(", ");
	return [fold(title, [{ kind: "list", items }], { depth: 3 })];
}

// --- internal ---

/** What a run's checks say, at worst. */
function trustOf({ validity, state, verdict }: Run): Look {
	if (state !== "complete" || verdict === "error") return "error";
	if (verdict === "invalid") return "invalid";
	if (validity.some(({ status }) => status === "fail")) return "fail";
	return validity.some(speaks) ? "warn" : "ok";
}

/** Against its run: what could not be checked says nothing of it. */
function speaks({ status }: Run["validity"][number]): boolean {
	return status === "warn" || status === "invalid" || status === "fail";
}

/**
 * Of the CPU time of this machine in the window, whoever used the rest; null: it was not sampled, or generator and brokers ran elsewhere. The kernel
 * counts a machine's time by ticks, which miss what runs between two of them, and that of a process exactly: the machine was at least as busy as
 * generator and broker.
 */
function idleShare({ series, window, sameHost }: Run, cores: number | null): number | null {
	if (cores === null || (series.hosts.length > 0 && sameHost !== true)) return null;
	// The nodes of a broker elsewhere have their CPU time from there.
	const here = sameHost === true && series.brokerHosts === undefined;
	const busy = series.resources.flatMap(({ at, machine, generator, broker }) =>
		at * 1e9 > window.startNs && at * 1e9 <= window.endNs && machine.busyCores !== null
			? Math.max(machine.busyCores, (generator?.cores ?? 0) + (here ? (broker?.cores ?? 0) : 0))
			: [],
	);
	// Who may use some of the cores only does not know how many there are.
	return busy.length === 0 || largestOf(busy) > cores * 1.05
		? null
		: Math.max(0, 1 - sum(busy) / busy.length / cores);
}

/** "machine 41 % to 80 % idle" */
function idleTexts(shares: readonly number[]): string[] {
	if (shares.length === 0) return [];
	const [low, high] = [smallestOf(shares), largestOf(shares)].map(percent);
	return [`machine ${low === high ? low : `${low} to ${high}`} idle`];
}

/** Whether p50 had settled, where a check has looked. */
function steadyTexts({ validity }: Run): string[] {
	if (validity.some(({ status }) => status === "fail")) return [tell("queue-grew")];
	const found = validity.filter(({ check }) => STEADY.has(check));
	if (found.some((c) => speaks(c) || c.code === "drifted")) return ["not steady"];
	return found.some(({ status }) => status === "ok") ? ["steady"] : [];
}

const STEADY = new Set(["steady", "warm-up"]);

function placeOf({ system, case: name, repeat }: Run, { runs }: Result): string {
	const several = runs.some((run) => run.repeat > 1);
	return `${system}, ${name}${several ? `, repeat ${repeat}` : ""}`;
}

function saidOf(run: Run, idle: number | null): string[] {
	const names = (some: Run["validity"]) => some.map(({ check }) => check).join(", ");
	const spoken = run.validity.filter(speaks);
	const unknown = run.validity.filter(({ status }) => status === "unknown");
	return [
		run.startedAt === null ? "never begun" : `begun ${formatUtc(run.startedAt)}`,
		...(run.confirms ? ["repeated to confirm"] : []),
		...idleTexts(idle === null ? [] : [idle]),
		...steadyTexts(run),
		spoken.length === 0 ? "no check speaks against any" : `checks speak: ${names(spoken)}`,
		...(unknown.length > 0 ? [`not checked: ${names(unknown)}`] : []),
	].map((said) => `; ${said}`);
}
