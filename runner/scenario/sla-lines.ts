import { type BaselineSla, isOfAnswer, type Sla } from "../model/plan.ts";
import type { Gate } from "../model/result.ts";
import { didYouMean } from "../suggest.ts";
import { tell } from "../text/tell.ts";
import { type ResolvedCases, resolveCases } from "./cases.ts";
import { applyOverrides } from "./overrides.ts";
import { type Parts, parseParts } from "./parts.ts";
import { quoted } from "./place.ts";
import { type Path, type Problem, refuse } from "./problem.ts";
import { problemsBy } from "./rules/rule.ts";
import { needsRepeats, unanswerable } from "./rules/sla.ts";
import type { BaselineLine, Case, Scenario, SlaLine } from "./scenario.ts";
import { parseSource } from "./source.ts";
import type { PlacedSystem } from "./systems.ts";

/**
 * The objectives of a scenario and of its cases, with the systems (`keys`: all that are written) and cases they name
 * looked up. A line that the schema refuses is left out; cases are not checked while one has a mistake, as its name isn't
 * known then. Lines that compare with a baseline (`compared`) are told apart from those with a limit.
 */
export function resolveSlaLines(
	parts: Pick<Parts, "sla" | "repeat" | "faults">,
	systems: readonly PlacedSystem[],
	keys: readonly string[],
	{ cases, where }: ResolvedCases,
	baseline: Scenario["baseline"],
	clients: number,
	lineOf: (path: Path) => number | null,
): { lines: SlaLine[]; compared: BaselineLine[]; problems: Problem[] } {
	const lines: SlaLine[] = [];
	const compared: BaselineLine[] = [];
	const problems: Problem[] = [];
	const bare: [SlaLine, Path][] = [];
	const faultsAtNs = parts.faults.map((fault) => fault?.atNs);
	const names = cases.every((one) => one !== undefined) ? cases.map((one) => one.name) : null;

	for (const { line: written, path, inCase } of parts.sla) {
		if (written === undefined) continue;
		const line: Line = "kind" in written ? { expect: written, abort: false } : written;
		const at = (key: string) => ("kind" in written ? path : [...path, key]);
		const { expect, system = null } = line;
		const matched = line.case === undefined || names === null ? {} : findCase(line.case, names);
		const only = (inCase === null ? matched.name : cases[inCase]?.name) ?? null;
		const meant = cases.filter((one, index) =>
			inCase === null ? only === null || one?.name === only : index === inCase,
		);
		const known = matched.wrong === undefined ? meant.filter((one) => one !== undefined) : [];
		const place = { system, case: only, line: lineOf(at("expect")) };
		const found = problemsBy((wrong) => {
			if (system !== null && keys.length > 0 && !keys.includes(system))
				wrong("system", "unknown", {
					what: "system",
					word: quoted(system),
					meant: didYouMean(system, keys),
				});
			if (matched.wrong !== undefined) wrong("case", { text: matched.wrong });
			const asked = systems.filter(({ key }) => (system ?? key) === key);
			const why = unanswerable(expect, {
				cases: known,
				systems: asked,
				clients,
				faultsAtNs,
				repeat: parts.repeat,
				baseline,
				system,
			});
			if (why !== undefined) wrong("expect", { text: why });
			if (line.abort && expect.kind === "baseline")
				wrong("abort", "abort-of-comparison", { line: expect.text });
		}, at);
		for (const one of found) problems.push(one);
		if (expect.kind === "baseline") {
			compared.push({ expect, ...place });
			continue;
		}
		const resolved = { expect: { ...expect, abort: line.abort }, ...place };
		lines.push(resolved);
		if (isBareRecovered(expect)) bare.push([resolved, at("expect")]);
	}
	// The latency that has to be met again may be one that is wrong.
	if (parts.sla.every(({ line }) => line !== undefined))
		for (const [{ expect, system, case: only }, path] of bare) {
			const met = lines.some(
				(line) =>
					isOfAnswer(line.expect) &&
					(line.system ?? system) === system &&
					(line.case ?? only) === only,
			);
			if (!met && expect.kind === "tally")
				problems.push(
					refuse(path, "recovered-of-nothing", {
						line: expect.text,
						op: expect.op,
						limitNs: expect.limit,
					}),
				);
		}
	for (const one of unboundedSearches(lines, keys, cases, where)) problems.push(one);
	const why = needsRepeats(parts.repeat);
	if (baseline !== null && compared.length === 0 && why !== null)
		problems.push(refuse(["baseline"], "about", { what: "baseline", why }));
	return { lines, compared, problems };
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
	const { lines, compared } = resolveSlaLines(
		parts,
		[],
		[],
		resolveCases(parts, folder),
		null,
		1,
		(path) => (labelOf(path) === undefined ? source.lineOf(path) : null),
	);
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
function unboundedSearches(
	lines: readonly SlaLine[],
	keys: readonly string[],
	cases: readonly (Case | undefined)[],
	where: ResolvedCases["where"],
): Problem[] {
	const bounds = lines.filter(
		({ expect }) => expect.kind !== "tally" || /^(throughput|achieved)/.test(expect.tally),
	);
	const isBound = (key: string, name: string) =>
		bounds.some((line) => (line.system ?? key) === key && (line.case ?? name) === name);
	return cases.flatMap((one, index) =>
		one?.find && !keys.every((key) => isBound(key, one.name))
			? [refuse(where(index, "find"), "search-without-bound")]
			: [],
	);
}

/** Without a latency of its own. */
function isBareRecovered(expect: Sla): boolean {
	return expect.kind === "tally" && expect.tally === "recovered" && expect.until === undefined;
}

interface Line {
	readonly expect: Sla | BaselineSla;
	readonly abort: boolean;
	readonly system?: string | undefined;
	readonly case?: string | undefined;
}

/** A case goes by its name, or by the words it begins with when no other case begins so. */
function findCase(asked: string, names: readonly string[]): { name?: string; wrong?: string } {
	if (names.includes(asked)) return { name: asked };
	const matches = names.filter((name) => name.startsWith(`${asked} `));
	const [only, ...others] = matches;
	if (only !== undefined && others.length === 0) return { name: only };
	return {
		wrong:
			only === undefined
				? tell("unknown", { what: "case", word: quoted(asked), meant: didYouMean(asked, names) })
				: tell("case-unclear", { asked, matches, cases: matches.length }),
	};
}
