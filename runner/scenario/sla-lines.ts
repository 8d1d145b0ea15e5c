import { isOfAnswer } from "../model/plan.ts";
import type { Gate } from "../model/result.ts";
import { didYouMean } from "../suggest.ts";
import { checkCases, type ResolvedCases, resolveCases } from "./cases.ts";
import type { Context } from "./context.ts";
import { applyOverrides } from "./overrides.ts";
import { type Parts, parseParts } from "./parts.ts";
import { quoted } from "./place.ts";
import { type Problem, reporter } from "./problem.ts";
import { needsRepeats, unanswerable } from "./rules/sla.ts";
import type { BaselineLine, Scenario, SlaLine } from "./scenario.ts";
import { parseSource } from "./source.ts";
import type { PlacedSystem } from "./systems.ts";

/** What lines of an SLA are looked up in. `keys`: of all systems that are written. */
interface Around extends Pick<Context, "problems" | "lineOf"> {
	readonly systems: readonly PlacedSystem[];
	readonly keys: readonly string[];
	readonly cases: ResolvedCases;
	readonly baseline: Scenario["baseline"];
	readonly clients: number;
}

/**
 * The objectives of a scenario and of its cases, with the systems and cases they name looked up. A line that the schema refuses is left out;
 * cases are not checked while one has a mistake, as its name isn't known then. Lines that compare with a baseline (`compared`) are told apart
 * from those with a limit.
 */
export function resolveSlaLines(
	parts: Pick<Parts, "sla" | "repeat" | "faults">,
	around: Around,
): { lines: SlaLine[]; compared: BaselineLine[] } {
	const { systems, keys, baseline, clients, problems, lineOf } = around;
	const { cases } = around.cases;
	const lines: SlaLine[] = [];
	const compared: BaselineLine[] = [];
	// The latency that has to be met again may be one that is wrong.
	const hasLatency = parts.sla.some(
		({ line }) => !line || (line.expect.kind !== "baseline" && isOfAnswer(line.expect)),
	);
	const names = cases.every((one) => one !== undefined) ? cases.map((one) => one.name) : null;

	for (const { line: written, path, inCase } of parts.sla) {
		if (written === undefined) continue;
		const { expect, system = null, abort } = written;
		const wrong = reporter<"expect" | "system" | "case" | "abort">(problems, (key) => [
			...path,
			key,
		]);
		const asked = "case" in written ? written.case : undefined;
		const matched = asked === undefined || names === null ? undefined : findCase(asked, names);
		const only = (inCase === null ? matched : cases[inCase]?.name) ?? null;
		if (system !== null && keys.length > 0 && !keys.includes(system))
			wrong("system", "unknown", {
				what: "system",
				word: quoted(system),
				meant: didYouMean(system, keys),
			});
		if (asked !== undefined && names && matched === undefined)
			wrong("case", "unknown", {
				what: "case",
				word: quoted(asked),
				meant: didYouMean(asked, names),
			});
		else {
			const meant = cases.filter((one, index) =>
				inCase === null ? only === null || one?.name === only : index === inCase,
			);
			const why = unanswerable(expect, {
				cases: meant.filter((one) => one !== undefined),
				systems: systems.filter(({ key }) => (system ?? key) === key),
				clients,
				faultsAtNs: parts.faults.map((fault) => fault?.atNs),
				repeat: parts.repeat,
				baseline,
				system,
			});
			if (why !== undefined) wrong("expect", { text: why });
		}
		if (abort && expect.kind === "baseline")
			wrong("abort", "abort-of-comparison", { line: expect.text });
		const place = { system, case: only, line: lineOf([...path, "expect"]) };
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
	const why = needsRepeats(parts.repeat);
	if (baseline !== null && compared.length === 0 && why !== null)
		reporter(problems)("baseline", "about", { what: "baseline", why });
	return { lines, compared };
}

/**
 * Finds the line of a scenario's text, from 1, that asks for a gate; null: it is a promise (delivery: at-least-once), or was `set` on the
 * command line. Other parts of the scenario may be wrong by now: a variable that is not set, a file that is gone.
 */
export function slaLineFinder(
	text: string,
	set: readonly string[],
	folder = ".",
): (gate: Pick<Gate, "sla" | "system" | "case">) => number | null {
	const parsed = parseSource(text.replace(/^\ufeff/, ""));
	if ("problems" in parsed) return () => null;
	const { source } = parsed;
	const { value, labelOf } = applyOverrides(source.value, { set });
	const parts = parseParts(value);
	const problems: Problem[] = [];
	const { lines, compared } = resolveSlaLines(parts, {
		systems: [],
		keys: [],
		cases: resolveCases(parts, problems, folder),
		baseline: null,
		clients: 1,
		problems,
		lineOf: (path) => (labelOf(path) === undefined ? source.lineOf(path) : null),
	});
	return (gate) =>
		[...lines, ...compared].find(
			({ expect, system, case: name }) =>
				expect.text === gate.sla &&
				(system ?? gate.system) === gate.system &&
				(name ?? gate.case) === gate.case,
		)?.line ?? null;
}

// --- internal ---

/** A search for the highest rate needs something that a rate can be too high for. */
function checkSearches(lines: readonly SlaLine[], { keys, cases, problems }: Around): void {
	const bounds = lines.filter(
		({ expect }) => expect.kind !== "tally" || /^(throughput|achieved)/.test(expect.tally),
	);
	const isBound = (key: string, name: string) =>
		bounds.some((line) => (line.system ?? key) === key && (line.case ?? name) === name);
	checkCases(cases, problems, ({ find, name }, wrong) => {
		if (find && !keys.every((key) => isBound(key, name))) wrong("find", "search-without-bound");
	});
}

/** A case goes by its name, or by the words it begins with when no other case begins so; undefined: there is none. */
function findCase(asked: string, names: readonly string[]): string | undefined {
	if (names.includes(asked)) return asked;
	const [only, ...others] = names.filter((name) => name.startsWith(`${asked} `));
	return others.length === 0 ? only : undefined;
}
