import { CATCH_UP } from "../model/load.ts";
import type { WorkloadField } from "../model/workload.ts";
import { asWritten, checkCases, type ResolvedCases, resolveLoad } from "./cases.ts";
import { isMap, type Written } from "./place.ts";
import { type Path, type Problem, reporter, type Wrong } from "./problem.ts";
import type { Case } from "./scenario.ts";
import type { ScenarioFile, SharedWorkload } from "./schema.ts";
import type { Files } from "./sizes.ts";

type Around = Files & { readonly problems: Problem[] };

/** Gives each case the loads beside it. `all` are the cases and after them these loads, for rules about every load. */
export function resolveBackground(
	{ background, churn }: Pick<ScenarioFile, "background" | "churn">,
	written: Written,
	mains: ResolvedCases,
	context: Around,
): { readonly cases: ResolvedCases; readonly all: ResolvedCases } | null {
	const { problems } = context;
	const loads = Object.entries(background);
	if (loads.length === 0) return { cases: mains, all: mains };
	const before = problems.length;
	checkCases(mains, problems, ({ schedule, find }, wrong) => {
		if (schedule.kind === "closed") wrong("messages", "background-of-closed-load");
		if (find) wrong("find", "background-of-search");
		if (schedule.steady)
			wrong("warmup", "steady-window", { part: "background loads", instead: "15s" });
	});
	if (problems.length > before) return null;
	const paths: Path[] = [];
	const map = isMap(written.background) ? written.background : {};
	const cases = mains.cases.map((main) => {
		const own = loads.flatMap(([load, parsed]) => {
			const abbreviated = churn !== undefined && load === CHURN;
			const path = abbreviated ? [CHURN] : ["background", load];
			const fields = abbreviated ? parsed : asWritten(parsed, map[load]);
			const one = beside(main, load, fields, path, context);
			if (one !== undefined) paths.push(path);
			return one ?? [];
		});
		return { ...main, ...phasesBeside(main, own), background: own };
	});
	if (paths.length < cases.length * loads.length) return null;
	const found = cases.flatMap((one) => one.background);
	const names = [...cases, ...found].map(({ name }) => name);
	for (const { name, load } of found)
		if (names.indexOf(name) !== names.lastIndexOf(name))
			reporter(problems, (at) => ["background", at])(`${load}`, "background-of-case", { name });
	return {
		cases: { ...mains, cases },
		all: {
			cases: [...cases, ...found],
			where(index, field, unwritten) {
				const path = paths[index - cases.length];
				return path ? [...path, field] : mains.where(index, field, unwritten);
			},
		},
	};
}

/** `churn` as one of the loads in `background`. */
export function withChurn(file: ScenarioFile, problems: Problem[]): ScenarioFile {
	const { churn, background } = file;
	if (churn === undefined) return file;
	if (CHURN in background) reporter(problems)(CHURN, "churn-twice");
	const { connect: rate, ...hold } = churn;
	const load = { pattern: "connect", rate, ...hold, message: CHURN_BYTES, sla: [] };
	return { ...file, background: { ...background, [CHURN]: load as never } };
}

/** Before, beside and after loads that do not last as long as a constant main load. Other loads have their own phases. */
export function phasesBeside(
	{ schedule, phases, backlog }: Pick<Case, "schedule" | "phases" | "backlog">,
	background: readonly Case[],
): Pick<Case, "phases"> {
	const { kind, warmupNs, durationNs } = schedule;
	if (backlog !== null || kind === "stages" || kind === "closed") return { phases };
	const spans = background.map(({ load, pattern, startNs, schedule: own }) => {
		const reads = pattern === CATCH_UP;
		const fromNs = Math.max(0, startNs + (reads ? 0 : own.warmupNs) - warmupNs);
		const endless = reads || own.kind === "closed";
		return { load, fromNs, toNs: endless ? durationNs : fromNs + own.durationNs };
	});
	const all = new Set([0, durationNs, ...spans.flatMap(({ fromNs, toNs }) => [fromNs, toNs])]);
	const edges = [...all]
		.filter((ns) => ns <= durationNs && (ns % 1e9 === 0 || ns === durationNs))
		.sort((a, b) => a - b);
	if (edges.length < 3) return { phases: [] };
	return {
		phases: edges.slice(1).map((toNs, i) => {
			const fromNs = edges[i] ?? 0;
			const beside = spans.filter((one) => one.fromNs < toNs && one.toNs > fromNs);
			const over = spans.filter((one) => one.toNs <= fromNs);
			const [word, loads] = beside.length > 0 ? ["beside", beside] : ["after", over];
			const [said, those] = loads.length > 0 ? [word, loads] : ["before", spans];
			return { name: `${said} ${those.map(({ load }) => load).join(", ")}`, fromNs, toNs };
		}),
	};
}

// --- internal ---

const CHURN = "churn";
/** Of a first message: little more than its envelope. */
const CHURN_BYTES = 64;

/** Nothing of a load with a `start` is sent before it, so it has no warm-up; the others share the main load's. */
function beside(
	main: Case,
	load: string,
	{ start, end, sla: _, ...fields }: Written,
	path: Path,
	{ problems, ...files }: Around,
): Case | undefined {
	const { warmupNs, durationNs } = main.schedule;
	const late = typeof start === "number" ? start : null;
	const until = typeof end === "number" ? end : durationNs;
	const room = until - (late ?? 0);
	const before = problems.length;
	const wrong = reporter<WorkloadField | "start" | "end">(problems, (field) => [...path, field]);
	const about = { case: main.name, durationNs };
	for (const [field, ns] of Object.entries({ start: late ?? 0, end: until }))
		if (ns % 1e9 !== 0 && ns !== durationNs)
			wrong(field as "start", "background-part-seconds", { field, seconds: Math.ceil(ns / 1e9) });
	if (late !== null && late >= durationNs)
		wrong("start", "background-after-end", { ...about, field: "start", atNs: late });
	else if (until > durationNs)
		wrong("end", "background-after-end", { ...about, field: "end", atNs: until });
	else if (room <= 0) wrong("end", "background-backwards", { startNs: late ?? 0 });
	const own = {
		name: `${main.name}, ${load}`,
		load,
		startNs: late === null ? 0 : warmupNs + late,
	};
	if (fields.pattern === CATCH_UP) return { ...reader(main, { ...fields, end }, wrong), ...own };
	const lasting = (["messages", "steps", "stages", "duration"] as const).find((field) =>
		Object.hasOwn(fields, field),
	);
	const closed = lasting === "messages";
	if (end !== undefined && lasting !== undefined && !closed)
		wrong("end", "background-end-twice", { field: lasting });
	if (problems.length > before) return undefined;
	// A closed load counts its warm-up in messages, and its duration is a limit.
	const times = closed
		? { duration: late === null ? warmupNs + until : room }
		: { duration: room, warmup: { ns: late === null ? warmupNs : 0 } };
	const given = lasting === "steps" || lasting === "stages" ? { warmup: times.warmup } : times;
	const one = resolveLoad({ drain: main.drainNs, ...given, ...fields }, wrong, { files });
	if (one === undefined) return undefined;
	if (lasting !== undefined && !closed && one.schedule.durationNs > room)
		wrong(lasting, "background-too-long", { ...about, field: lasting, roomNs: room });
	return { ...one, ...own };
}

const OF_READER: readonly string[] = ["pattern", "consumerConnections", "drain"];

/** It knows the main load's messages, to find those that are missing. */
function reader(main: Case, written: Written, wrong: Wrong<WorkloadField | "end">): Case {
	const other = Object.entries(written).find(
		([field, value]) => value !== undefined && !OF_READER.includes(field),
	);
	if (other) wrong(other[0] as WorkloadField, "field-of-catch-up", { field: other[0] });
	const { consumerConnections = 1, drain = main.drainNs } = written as SharedWorkload;
	return {
		...main,
		pattern: CATCH_UP,
		phases: [],
		backlog: null,
		drainNs: drain,
		timeoutNs: drain,
		inFlight: null,
		consumers: 0,
		subscriptions: 1,
		consumerConnections,
		wildcard: false,
		bystanders: 0,
		hold: 0,
		work: null,
	};
}
