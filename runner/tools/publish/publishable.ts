import type { Result, Run } from "../../model/result.ts";
import { saturatedBy } from "../../result/select.ts";
import { plural } from "../../units.ts";
import { checkOf, found } from "./found.ts";
import { cold, short } from "./windows.ts";

/**
 * Why a result is not to be published, each reason as a sentence with a remedy; none if it may be. The requirements are in
 * reports/README.md, "Publishing a report".
 */
export function publishable(result: Result): string[] {
	const judged = result.runs.filter(isJudged);
	return [
		...(result.quick ? ["it was shortened by --quick: measure it in full"] : []),
		...unfinished(result),
		...stitched(result),
		...versions(result, judged),
		...repeats(result, judged),
		...cold(result, judged),
		...short(result, judged),
		...shared(result, judged),
		...untrusted(result, judged),
	];
}

/** Systems and cases of which some runs are saturated: they are published with that mark. */
export function unranked({ runs }: Result): string[] {
	const saturated = runs.filter((run) => saturatedBy(run).length > 0);
	return [...new Set(saturated.map((run) => `${run.system}, ${run.case}`))];
}

/** For each system and case: two that agree are no accident of one of them. */
export const REPEATS = 3;

// --- internal ---

/**
 * CPU time taken by the hypervisor. If you rent a machine, you cannot choose: up to this share the check's warning is shown next to the
 * run, and the repeats, in which the systems take turns, show its effect.
 */
const MOST_STOLEN = 0.1;

/** For a search, its answer is published: the run that confirmed it. */
function isJudged({ search, verdict }: Run): boolean {
	return search === null || (search.role === "confirm" && verdict === "pass");
}

function unfinished(result: Result): string[] {
	return found(
		result.runs,
		result,
		({ state }) => (state === "complete" ? null : state),
		(runs, state) =>
			`${runs}: not measured to the end (${state}): measure again, and let the command end`,
		(state) => state,
	);
}

/** Whether one command measured it in one go, on one start of one machine. */
function stitched({ environment, command }: Result): string[] {
	const later = environment?.resumed?.length ?? 0;
	const unknown =
		environment === null
			? ["machine"]
			: (["cpu", "bootId"] as const).filter((f) => environment[f] === null);
	return [
		...(command === null
			? ["there is no command.json, so nothing shows that one command made all runs: measure again"]
			: []),
		...(later > 0 ? [`${later + 1} commands made its runs (--resume): measure again in one`] : []),
		...(unknown.length > 0
			? [
					`environment.json does not say ${unknown.join(", ")}: measure again with this version of mqbench`,
				]
			: []),
	];
}

/** The versions of generator and machine are the same in all runs, a system's in all of its runs; none is missing. */
function versions(result: Result, judged: readonly Run[]): string[] {
	const of = (runs: readonly Run[], names: readonly VersionName[], whose = "") =>
		names.flatMap((what) => {
			const all = new Set(runs.flatMap(({ versions: v }) => v?.[what] || []));
			return all.size < 2
				? []
				: [
						`its runs have different versions of ${what}${whose} (${[...all].join(", ")}): measure again with one of them`,
					];
		});
	const systems = [...new Set(judged.map(({ system }) => system))];
	return [
		...of(judged, ["k6", "mqbench", "go"]),
		...systems.flatMap((system) =>
			of(
				judged.filter((run) => run.system === system),
				["library", "server"],
				` (${system})`,
			),
		),
		...found(
			judged,
			result,
			({ versions: v, brokerVersion }) =>
				VERSIONS.find((what) => (what === "server" ? !(v?.server || brokerVersion) : !v?.[what])) ??
				null,
			(runs, what) => `${runs}: the version of ${what} is not known`,
			(what) => what,
		),
	];
}

const VERSIONS = ["k6", "mqbench", "go", "library", "server"] as const;
type VersionName = (typeof VERSIONS)[number];

function repeats({ searches }: Result, judged: readonly Run[]): string[] {
	const single = judged.filter(({ search }) => search === null);
	const counts = new Map<string, number>();
	for (const { system, case: name } of [...single, ...searches]) {
		const which = `${system}, ${name}`;
		counts.set(which, (counts.get(which) ?? 0) + 1);
	}
	// --confirm repeats only cases that did not pass, so the others have fewer.
	const least = Math.max(REPEATS, ...counts.values());
	const few = new Set([...counts.values()].filter((n) => n < least));
	const open = searches.find(({ confirmed }) => !confirmed);
	return [
		...[...few].map((n) => {
			const all = [...counts].flatMap(([of, own]) => (own === n ? [of] : []));
			const [first = ""] = all;
			const more = all.length === 1 ? "" : ` and ${all.length - 1} more`;
			return `${first}${more}: ${plural(n, "repeat")}; at least ${least} are needed, as many for each: --set repeat=${least}`;
		}),
		...(open === undefined
			? []
			: [
					`${open.system}, ${open.case}: the highest rate was not confirmed by another run: search again`,
				]),
	];
}

/** Whether generator and broker had the machine to themselves. */
function shared(result: Result, judged: readonly Run[]): string[] {
	const checks = ["others", "steal"].flatMap((name) => [
		...found(
			judged,
			result,
			(run) => {
				const one = withStatus(run, name, "warn");
				const share = Number(one?.values?.share ?? 1);
				return name === "steal" && share <= MOST_STOLEN ? null : one;
			},
			(runs, { detail: why }) => `${runs}: ${why}: measure on an idle machine`,
		),
		...found(
			judged,
			result,
			(run) => withStatus(run, name, "unknown"),
			(runs, { detail: why }) => `${runs}: whether others used the machine is not known (${why})`,
		),
	]);
	return [
		...checks,
		...found(
			judged,
			result,
			(run) => (checkOf(run, "others") ? null : run.load.target),
			(runs, target) =>
				`${runs}: with target ${target} it is unknown what else used the machine: measure with target local, or on hosts of the broker's own`,
			(target) => target,
		),
	];
}

/** The reasons that make a run worthless, except a saturated machine or generator: such runs are published with that mark. */
function untrusted(result: Result, judged: readonly Run[]): string[] {
	return [
		...found(
			judged,
			result,
			(run) => withStatus(run, "cores", "unknown"),
			(runs, { detail: why }) => `${runs}: whether others used the machine is not known (${why})`,
		),
		...found(
			judged,
			result,
			(run) => {
				const floor = withStatus(run, "floor", "unknown");
				return floor?.code === "floor-not-comparable" ? null : floor;
			},
			(runs, { detail: why }) =>
				`${runs}: what the load generator can do is not known (${why}): measure again with its floor`,
		),
		...found(
			judged,
			result,
			(run) => {
				const marked = saturatedBy(run);
				const bad = run.validity.find(
					({ check, status }) =>
						status === "error" || (status === "invalid" && !marked.includes(check)),
				);
				if (bad) return `${bad.check}: ${bad.detail}`;
				return run.verdict === "error" || (run.verdict === "invalid" && marked.length === 0)
					? (run.why ?? run.verdict)
					: null;
			},
			(runs, why) => `${runs}: ${why}`,
		),
	];
}

function withStatus(run: Run, name: string, status: string) {
	const found = checkOf(run, name);
	return found?.status === status ? found : null;
}
