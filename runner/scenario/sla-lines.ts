import { isOfAnswer } from "../model/plan.ts";
import { didYouMean } from "../suggest.ts";
import { checkCases, type ResolvedCases } from "./cases.ts";
import { quoted } from "./place.ts";
import { type Problem, reporter } from "./problem.ts";
import { needsRepeats, unanswerable } from "./rules/sla.ts";
import type { BaselineLine, Scenario, SlaLine } from "./scenario.ts";
import type { ScenarioFile } from "./schema.ts";
import type { PlacedSystem } from "./systems.ts";

interface Around extends Pick<Scenario, "faults" | "repeat" | "baseline"> {
	readonly systems: readonly PlacedSystem[];
	readonly cases: ResolvedCases;
	readonly clients: number;
	readonly problems: Problem[];
}

/** Looks up the systems and cases of all SLA lines. `compared` has the lines with a baseline. */
export function resolveSlaLines(
	{ sla, cases: own = [], background }: Pick<ScenarioFile, "sla" | "cases" | "background">,
	around: Around,
): { lines: SlaLine[]; compared: BaselineLine[] } {
	const { systems, repeat, baseline, problems } = around;
	const { cases } = around.cases;
	const names = cases.map(({ name }) => name);
	const keys = systems.map(({ key }) => key);
	const lines: SlaLine[] = [];
	const compared: BaselineLine[] = [];
	const all = [
		...sla.map((line, i) => ({ line, path: ["sla", i], inCase: null, load: line.load ?? null })),
		...own.flatMap((one, inCase) =>
			(one.sla ?? []).map((line, i) => {
				const path = ["cases", inCase, "sla", i];
				return { line, path, inCase, load: null };
			}),
		),
		...Object.entries(background).flatMap(([load, { sla }]) =>
			sla.map((line, i) => ({ line, path: ["background", load, "sla", i], inCase: null, load })),
		),
	];
	const hasLatency = all.some(
		({ line: { expect } }) => expect.kind !== "baseline" && isOfAnswer(expect),
	);
	const loads = Object.keys(background);
	for (const { line, path, inCase, load } of all) {
		const { expect, system = null, abort } = line;
		const wrong = reporter(problems, (at) => [...path, at]);
		const unknown = (what: string, word: string, known: readonly string[]) =>
			wrong(what, "unknown", { what, word: quoted(word), meant: didYouMean(word, known) });
		const asked = "case" in line ? line.case : undefined;
		// The case with that name, otherwise all whose names begin with these words.
		const begin = names.filter((name) => asked !== undefined && name.startsWith(`${asked} `));
		const called = asked !== undefined && names.includes(asked) ? [asked] : begin;
		const only = (inCase === null ? called[0] : cases[inCase]?.name) ?? null;
		if (system !== null && !keys.includes(system)) unknown("system", system, keys);
		if (asked !== undefined && called.length === 0) unknown("case", asked, names);
		else if (load !== null && !loads.includes(load)) unknown("load", load, loads);
		else if (called.length > 1)
			wrong("case", "case-unclear", { asked, cases: called.length, whole: only });
		else {
			const why = unanswerable(expect, {
				...around,
				cases: cases
					.filter(({ name }) => only === null || name === only)
					.flatMap((one) =>
						load === null ? one : one.background.filter((beside) => beside.load === load),
					),
				systems: systems.filter(({ key }) => (system ?? key) === key),
				system,
			});
			if (why !== undefined) wrong("expect", { text: why });
		}
		if (abort && expect.kind === "baseline")
			wrong("abort", "abort-of-comparison", { line: expect.text });
		const place = { system, case: only, load };
		if (expect.kind === "baseline") {
			compared.push({ expect, ...place });
			continue;
		}
		lines.push({ expect: { ...expect, abort }, ...place });
		const bare = expect.kind === "tally" && expect.tally === "recovered" && !expect.until;
		if (bare && !hasLatency)
			wrong("expect", "recovered-of-nothing", {
				line: expect.text,
				op: expect.op,
				limitNs: expect.limit,
			});
	}
	checkSearches(lines, around);
	const why = needsRepeats(repeat);
	if (baseline !== null && compared.length === 0 && why !== null)
		reporter(problems)("baseline", "about", { what: "baseline", why });
	return { lines, compared };
}

/** Line of a scenario's text with this SLA line, from 1. Null for a promise or `--set`, and if the text occurs several times. */
export function lineOfSla(text: string, sla: string): number | null {
	const escaped = sla.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
	// "p99 < 5ms" is not in "ack p99 < 5ms".
	const whole = new RegExp(`(?<![\\w.]\\s*)${escaped.replaceAll(" ", "\\s+")}(?![\\w.])`);
	const lines = text.split(/\r?\n/).map((line) => line.replace(/(^|\s)#.*/, ""));
	const found = lines.flatMap((line, i) => (whole.test(line) ? [i + 1] : []));
	return found.length === 1 ? (found[0] ?? null) : null;
}

// --- internal ---

/** A search needs a line that too high a rate can break. */
function checkSearches(lines: readonly SlaLine[], { systems, cases, problems }: Around): void {
	const bounds = lines.filter(
		({ expect }) => expect.kind !== "tally" || /^(throughput|achieved)/.test(expect.tally),
	);
	const isBound = (key: string, name: string) =>
		bounds.some((line) => (line.system ?? key) === key && (line.case ?? name) === name);
	checkCases(cases, problems, ({ find, name }, wrong) => {
		if (find && !systems.every(({ key }) => isBound(key, name)))
			wrong("find", "search-without-bound");
	});
}
