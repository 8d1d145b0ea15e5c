import { EXIT, type ExitCode, failure } from "../errors.ts";
import type { Baseline, Calibration, Comparison } from "../model/comparison.ts";
import type { Verdict } from "../model/verdict.ts";
import { at } from "../result/select.ts";
import { plural } from "../units.ts";
import type { OnInconclusive } from "../verdict/exit.ts";
import { type Compare, compareRuns, gateVerdict, type NotCompared } from "./compare.ts";
import { MACHINE } from "./machine.ts";
import { type Difference, differencesIn } from "./work.ts";

export interface Named {
	readonly path: string;
	readonly baseline: Baseline;
}

type Systems = readonly [a: string, b: string];

/** The output of `mqbench compare`: B against A, the baseline. */
export type Comparing = ReturnType<typeof comparingOf>;

/** "advisory" if nothing may be judged, "nothing" if nothing could be compared. */
export const OUTCOMES = {
	regressed: "fail",
	nothing: "error",
	inconclusive: "inconclusive",
	advisory: "inconclusive",
	improved: "pass",
	same: "pass",
} as const satisfies Record<string, Verdict>;
type Outcome = keyof typeof OUTCOMES;

/** `systems` compares B's second with A's first: two systems of the same runs, if both are one run, instead of one system of two. */
export function comparingOf(
	a: Named,
	b: Named,
	options: { readonly systems?: Systems | null; readonly calibration?: Calibration | null } = {},
) {
	const { systems = null, calibration = null } = options;
	const [nameA, nameB] = (b.path === a.path ? systems : null) ?? ["A", "B"];
	const runs = { name: nameA, of: a.baseline };
	const found = compareRuns(runs, { name: nameB, of: b.baseline }, systems, calibration);
	const differences = differencesOf(a.baseline, b.baseline, systems);
	const about = { a, b, systems, differences, ...found };
	return { ...about, outcome: outcomeOf(found), summary: summaryOf(found) };
}

/** 99 on a regression, 2 if nothing could be compared. An undecided comparison warns, unless it is to fail. */
export function exitCodeOfComparing(outcome: Outcome, onInconclusive: OnInconclusive): ExitCode {
	if (outcome === "nothing") return EXIT.usage;
	if (outcome === "regressed") return EXIT.fail;
	const open = OUTCOMES[outcome] === "inconclusive";
	return open && onInconclusive === "fail" ? EXIT.inconclusive : EXIT.pass;
}

/** Systems and cases without any comparison: they may be worse. */
export function missingOf({ comparisons, notCompared }: Compare): NotCompared[] {
	return notCompared.filter((place) => at(place, comparisons).length === 0);
}

/** Parses `--systems`, the baseline's first; null compares the same systems of two runs. `b` is null if one run was named. */
export function systemsOf(given: string | undefined, a: Named, b: Named | null): Systems | null {
	const usage = (message: string) => failure("usage", { message });
	const known = (of: Named) => [...new Set(of.baseline.runs.map((run) => run.system))];
	if (given === undefined) {
		if (b !== null) return null;
		const two = known(a).slice(0, 2);
		const systems = two.length < 2 ? "" : `, or two of its systems (--systems ${two.join(",")})`;
		throw usage(`${a.path}: compare needs a second run (npx mqbench compare A B)${systems}.`);
	}
	const [first, second, ...more] = given.split(",").map((name) => name.trim());
	if (!first || !second || more.length > 0)
		throw usage(`--systems ${given}: give two names, the baseline first, e.g. --systems old,new`);
	for (const [name, of] of [[first, a] as const, [second, b ?? a] as const])
		if (!known(of).includes(name))
			throw usage(`${of.path}: has no system ${name}; it has ${known(of).join(", ") || "none"}`);
	return [first, second];
}

// --- internal ---

function judgedOf({ comparisons }: Compare): Comparison[] {
	return comparisons.filter((c) => c.judged);
}

function isOpen(c: Comparison): boolean {
	return gateVerdict(c) === "inconclusive";
}

function outcomeOf(compared: Compare): Outcome {
	const judged = judgedOf(compared);
	if (compared.comparisons.length === 0) return "nothing";
	if (judged.some((c) => c.verdict === "regressed")) return "regressed";
	if (judged.length === 0) return "advisory";
	if (judged.some(isOpen) || missingOf(compared).length > 0) return "inconclusive";
	return judged.some((c) => c.verdict === "improved") ? "improved" : "same";
}

function summaryOf(compared: Compare): string {
	const judged = judgedOf(compared);
	const count = (is: (c: Comparison) => boolean) => judged.filter(is).length;
	const figures = judged.length;
	if (figures === 0)
		return compared.comparisons.length > 0
			? "shown only: nothing here may decide"
			: "nothing could be compared";
	const worse = count((c) => c.verdict === "regressed");
	const better = count((c) => c.verdict === "improved");
	const open = count(isOpen);
	const counts = [
		[worse, "worse by more than the margin"],
		[open, "open"],
		[better, "better"],
		[figures - worse - open - better, "not worse"],
	] as const;
	const each = counts.flatMap(([n, how]) => (n === 0 ? [] : `${n} ${how}`)).join(", ");
	const missing = missingOf(compared).length > 0 ? "; not everything could be compared" : "";
	return `${plural(figures, "figure")} decide${figures === 1 ? "s" : ""}: ${each}${missing}`;
}

function differencesOf(a: Baseline, b: Baseline, systems: Systems | null): Difference[] {
	const both = Object.keys(b.systems).filter((name) => Object.hasOwn(a.systems, name));
	const pairs = systems === null ? both.map((name) => [name, name] as const) : [systems];
	return differencesIn([
		["scenario", a.scenario, b.scenario],
		["mqbench", a.mqbench, b.mqbench],
		...MACHINE.map(
			([name, of]) => [name, a.machine && of(a.machine), b.machine && of(b.machine)] as const,
		),
		...pairs.flatMap(([one, other]) => {
			const [x = {}, y = {}] = [a.systems[one], b.systems[other]];
			const name = one === other ? one : `${one}, ${other}`;
			const facts = [...new Set([...Object.keys(x), ...Object.keys(y)])];
			return facts.map((fact) => [`${name}: ${fact}`, x[fact], y[fact]] as const);
		}),
	]);
}
