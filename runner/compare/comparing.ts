import { EXIT, type ExitCode } from "../errors.ts";
import type { Baseline, Calibration, Comparison } from "../model/comparison.ts";
import { say } from "../text/say.ts";
import type { OnInconclusive } from "../verdict/exit.ts";
import { type Compare, compareRuns, gateVerdict, type NotCompared } from "./compare.ts";

/** A run folder or baseline.json, as it was named. */
export interface Named {
	readonly path: string;
	readonly baseline: Baseline;
}

/** What `mqbench compare` shows: A, and each other against it. */
export interface Comparing {
	readonly a: Named & { readonly letter: string };
	readonly others: readonly Other[];
	/** Two systems of the same runs instead of the same system of two. */
	readonly systems: readonly [a: string, b: string] | null;
	readonly outcome: Outcome;
	/** The outcome's word and why, in one sentence. */
	readonly summary: string;
}

export interface Other extends Named, Compare {
	readonly letter: string;
	/** Of this one alone. */
	readonly outcome: Outcome;
	readonly differences: readonly Difference[];
}

/** A fact that is not the same on both sides. */
interface Difference {
	/** "kernel", "nats: broker". */
	readonly what: string;
	readonly a: string;
	readonly b: string;
}

/** The worst first: of several candidates that of the worst one is the outcome. */
const OUTCOMES = ["regressed", "nothing", "inconclusive", "advisory", "improved", "same"] as const;
/** advisory: nothing may be judged; nothing: nothing could be compared. */
export type Outcome = (typeof OUTCOMES)[number];

/** Compares each of `others` with `a`; with `systems`, B's second with A's first, and then both may be one run. */
export function comparingOf(
	a: Named,
	others: readonly Named[],
	options: {
		readonly systems?: readonly [a: string, b: string] | null;
		readonly calibration?: Calibration | null;
	} = {},
): Comparing {
	const systems = options.systems ?? null;
	const comparisons = others.map((other, i): Other => {
		const letter = LETTERS[i + 1] ?? `${i + 2}`;
		const within = other.path === a.path && systems !== null;
		const compared = compareRuns(a.baseline, other.baseline, {
			names: within ? { a: systems[0], b: systems[1] } : { a: "A", b: letter },
			...(systems === null ? {} : { pairs: { [systems[1]]: systems[0] } }),
			calibration: options.calibration ?? null,
		});
		return {
			...other,
			letter,
			...compared,
			outcome: outcomeOf(compared),
			differences: differencesOf(a.baseline, other.baseline, systems),
		};
	});
	const outcome =
		OUTCOMES.find((one) => comparisons.some((other) => other.outcome === one)) ?? "nothing";
	return {
		a: { ...a, letter: "A" },
		others: comparisons,
		systems,
		outcome,
		summary:
			comparisons.length === 1
				? comparisons.map(summaryOf).join()
				: comparisons.map((one) => `${one.letter}: ${summaryOf(one)}`).join("; "),
	};
}

/** 99 on a regression, 2 where nothing could be compared; what is undecided is a warning, unless it is to fail. */
export function exitCodeOfComparing(outcome: Outcome, onInconclusive: OnInconclusive): ExitCode {
	if (outcome === "nothing") return EXIT.usage;
	if (outcome === "regressed") return EXIT.fail;
	const open = outcome === "inconclusive" || outcome === "advisory";
	return open && onInconclusive === "fail" ? EXIT.inconclusive : EXIT.pass;
}

/** What could not be compared at all, as far as a system and case go: nobody can tell whether it is worse. */
export function missingOf({ comparisons, notCompared }: Compare): NotCompared[] {
	return notCompared.filter(
		({ system, case: name }) => !comparisons.some((c) => c.system === system && c.case === name),
	);
}

// --- internal ---

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

function outcomeOf(compared: Compare): Outcome {
	const { comparisons } = compared;
	const judged = comparisons.filter((c) => c.judged);
	if (comparisons.length === 0) return "nothing";
	if (judged.some((c) => c.verdict === "regressed")) return "regressed";
	if (judged.length === 0) return "advisory";
	if (judged.some((c) => gateVerdict(c) === "inconclusive") || missingOf(compared).length > 0)
		return "inconclusive";
	return judged.some((c) => c.verdict === "improved") ? "improved" : "same";
}

function summaryOf(other: Other): string {
	const judged = other.comparisons.filter((c) => c.judged);
	const figures = judged.length;
	const count = (which: Comparison["verdict"]) => ({
		n: judged.filter((c) => c.verdict === which).length,
		figures,
	});
	const missing = missingOf(other).length;
	switch (other.outcome) {
		case "nothing":
			return say("summary-nothing").text;
		case "advisory":
			return say("summary-advisory").text;
		case "regressed":
			return say("summary-worse", count("regressed")).text;
		case "improved":
			return say("summary-better", count("improved")).text;
		case "same":
			return say("summary-same", { figures }).text;
		case "inconclusive": {
			const open = judged.filter((c) => gateVerdict(c) === "inconclusive").length;
			return [
				...(open > 0 ? [say("summary-open", { open, figures })] : []),
				...(missing > 0 ? [say("summary-missing")] : []),
			]
				.map(({ text }) => text)
				.join("; ");
		}
	}
}

function differencesOf(
	a: Baseline,
	b: Baseline,
	systems: readonly [string, string] | null,
): Difference[] {
	const differences: Difference[] = [];
	const add = (what: string, x: unknown, y: unknown) => {
		const [one, other] = [textOf(x), textOf(y)];
		if (one !== other) differences.push({ what, a: one, b: other });
	};
	add("scenario", a.scenario, b.scenario);
	add("mqbench", a.mqbench, b.mqbench);
	for (const { name, of } of MACHINE)
		add(name, a.machine && of(a.machine), b.machine && of(b.machine));
	const pairs =
		systems === null
			? Object.keys(b.systems)
					.filter((name) => Object.hasOwn(a.systems, name))
					.map((name) => [name, name] as const)
			: [systems];
	for (const [one, other] of pairs) {
		const [x = {}, y = {}] = [a.systems[one], b.systems[other]];
		const name = one === other ? one : `${one}, ${other}`;
		for (const fact of new Set([...Object.keys(x), ...Object.keys(y)]))
			add(`${name}: ${fact}`, x[fact], y[fact]);
	}
	return differences;
}

type Machine = NonNullable<Baseline["machine"]>;

/** What pages and differences tell of a machine. */
export const MACHINE: readonly {
	readonly name: string;
	of(machine: Machine): string | number | null;
}[] = [
	{ name: "CPU", of: (m) => m.cpu },
	{ name: "cores", of: (m) => m.cores },
	{ name: "memory", of: (m) => m.memoryGiB && `${m.memoryGiB} GiB` },
	{ name: "system", of: (m) => m.os },
	{ name: "kernel", of: (m) => m.kernel },
	{ name: "limit of cores", of: (m) => m.cpuQuotaCores ?? "none" },
	{ name: "machines of the rig", of: (m) => m.rig ?? "none" },
	{ name: "start of the machine", of: (m) => m.boot },
];

function textOf(value: unknown): string {
	return value === undefined || value === null ? "not known" : String(value);
}
