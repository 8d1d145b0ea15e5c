import { clientTable, failoverTable, rowTexts } from "../document/tables.ts";
import type { Result, Run } from "../model/result.ts";
import type { Verdict } from "../model/verdict.ts";
import { breachOf } from "../result/breach.ts";
import { type Outcome, outcomeName, outcomesOf } from "../result/outcomes.ts";
import {
	machineText,
	runTitle,
	systemText,
	topologyText,
	verdictText,
	verdictWord,
} from "../result/words.ts";
import { tell } from "../text/tell.ts";
import type { OnInconclusive } from "../verdict/exit.ts";

/**
 * `junit.xml`: a suite for the scenario, a case for each SLA line, system and case, for each run that speaks for itself, each search and
 * comparison. It holds a failure or an error exactly when the exit code is not 0: an undecided line is a failure, or skipped,
 * as `--on-inconclusive` says. Valid by junit-10.xsd, which Jenkins' plugin publishes and GitLab reads as well.
 */
export function renderJunit(result: Result, onInconclusive?: OnInconclusive): string {
	const cases = uniquely(outcomesOf(result)).map(({ outcome, name }) => ({
		outcome,
		name,
		kind: kindOf(outcome, onInconclusive),
	}));
	const count = (kind: Kind) => cases.filter((c) => c.kind === kind).length;
	const totals = {
		tests: `${cases.length}`,
		failures: `${count("failure")}`,
		errors: `${count("error")}`,
	};
	// Each run once, however many SLA lines judge it.
	const time = seconds(result.runs.reduce((sum, run) => sum + runSeconds(run), 0));
	const suite = [
		element(1, "properties", {}, propertiesOf(result)),
		...cases.map((c) => caseOf(c, result)),
		element(1, "system-out", {}, text(summaryOf(result))),
	];
	const startedAt = result.environment?.startedAt ?? result.runs[0]?.startedAt;
	return `<?xml version="1.0" encoding="UTF-8"?>\n${element(
		0,
		"testsuites",
		{ name: "mqbench", ...totals, time },
		`\n${element(
			0,
			"testsuite",
			{
				name: oneLine(result.scenario),
				...totals,
				skipped: `${count("skipped")}`,
				time,
				...(startedAt ? { timestamp: new Date(startedAt).toISOString().slice(0, 19) } : {}),
			},
			`\n${suite.join("\n")}\n`,
		)}\n`,
	)}\n`;
}

// --- internal ---

type Kind = "passed" | "failure" | "error" | "skipped";

interface Case {
	readonly outcome: Outcome;
	readonly name: string;
	readonly kind: Kind;
}

const KINDS: Readonly<Record<Verdict, Kind>> = {
	pass: "passed",
	fail: "failure",
	inconclusive: "failure",
	invalid: "error",
	error: "error",
	interrupted: "error",
};

function kindOf(outcome: Outcome, asked: OnInconclusive | undefined): Kind {
	const kind = KINDS[outcome.verdict];
	if (kind === "passed" || !outcome.decides) return kind === "passed" ? kind : "skipped";
	if (outcome.verdict !== "inconclusive") return kind;
	return (asked ?? usually(outcome)) === "fail" ? "failure" : "skipped";
}

/** As the exit code has it: what a comparison leaves open warns, what a limit leaves open fails. */
function usually({ of }: Outcome): OnInconclusive {
	return of.kind === "comparison" || (of.kind === "gate" && of.gate.compares) ? "warn" : "fail";
}

/** Tools tell cases apart by their name. */
function uniquely(outcomes: readonly Outcome[]): { outcome: Outcome; name: string }[] {
	const used = new Set<string>();
	return outcomes.map((outcome) => {
		const plain = outcomeName(outcome);
		let name = plain;
		for (let i = 2; used.has(name); i++) name = `${plain} (${i})`;
		used.add(name);
		return { outcome, name };
	});
}

function caseOf({ outcome, name, kind }: Case, result: Result): string {
	const attributes = { name, classname: oneLine(result.scenario), time: seconds(outcome.seconds) };
	if (kind === "passed") return element(1, "testcase", attributes, bodyOf(outcome));
	const { broke, where, when, next } = breachOf(outcome, result);
	const lines = [
		broke,
		`where: ${where}`,
		...(when === null ? [] : [`when: ${when}`]),
		...figuresOf(outcome),
		`why: ${outcome.why}`,
		...(outcome.decides ? [] : ["shown only: it decides nothing"]),
		`what to do: ${next}`,
	];
	return element(
		1,
		"testcase",
		attributes,
		`\n${element(
			2,
			kind,
			{ type: outcome.verdict, message: oneLine(broke) },
			text(lines.join("\n")),
		)}\n\t`,
	);
}

/** What was measured, of a case that passed. */
function bodyOf(outcome: Outcome): string {
	const lines = [...figuresOf(outcome), outcome.why];
	return `\n${element(2, "system-out", {}, text(lines.join("\n")))}\n\t`;
}

function figuresOf({ of }: Outcome): string[] {
	return of.kind === "gate" ? [`measured: ${of.gate.measured}, limit: ${of.gate.limit}`] : [];
}

function propertiesOf(result: Result): string {
	const systems = new Map(result.runs.map((run) => [run.system, run]));
	const { environment } = result;
	const machine = machineText(result);
	const properties: [string, string][] = [
		["run id", result.runId],
		["verdict", verdictWord(result)],
		...(environment === null
			? []
			: ([
					["mqbench", environment.mqbench],
					["k6", environment.k6],
				] as [string, string][])),
		...(machine === null ? [] : ([["machine", machine]] as [string, string][])),
		...[...systems].flatMap(([system, run]): [string, string][] => [
			[`${system}: broker`, systemText(run).split("; durability")[0] ?? ""],
			[`${system}: durability`, run.load.durability],
			...(run.topology === null
				? []
				: ([[`${system}: topology`, topologyText(run) ?? ""]] as [string, string][])),
		]),
	];
	return `\n${properties
		.map(([name, value]) => element(2, "property", { name, value }))
		.join("\n")}\n\t`;
}

function summaryOf(result: Result): string {
	return [
		`${verdictWord(result)}: ${verdictText(result)}.`,
		...result.runs.flatMap((run) =>
			[...rowTexts(failoverTable([run])), ...rowTexts(clientTable(run))].map(
				(text) => `${runTitle(run, result)}: ${text}.`,
			),
		),
		tell("whole-report-in-folder", { runId: result.runId }),
	].join("\n");
}

function runSeconds(run: Run): number {
	return run.state === "never" ? 0 : (run.generator?.endNs ?? run.window.endNs) / 1e9;
}

/** Milliseconds, without thousands: all that the XSD allows. */
function seconds(value: number): string {
	return value.toFixed(3);
}

// XML.

/** `inside` is XML already; without it the element is empty. */
function element(
	depth: number,
	name: string,
	attributes: Readonly<Record<string, string>>,
	inside?: string,
): string {
	const written = Object.entries(attributes)
		.map(([key, value]) => ` ${key}="${attribute(value)}"`)
		.join("");
	const open = `${"\t".repeat(depth)}<${name}${written}`;
	return inside === undefined ? `${open}/>` : `${open}>${inside}</${name}>`;
}

function attribute(value: string): string {
	// A line break as it is would be read as a blank.
	return text(value).replaceAll(/[\t\n]/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** What XML 1.0 cannot hold, even escaped, becomes the sign for an unknown letter: control characters, halves of an emoji. */
function text(value: string): string {
	return value
		.replaceAll("\r\n", "\n")
		.replaceAll("\r", "\n")
		.replaceAll(
			// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what XML forbids.
			/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]|\p{Surrogate}/gu,
			"\ufffd",
		)
		.replaceAll("&", "&amp;")
		.replaceAll("<", "&lt;")
		.replaceAll(">", "&gt;")
		.replaceAll('"', "&quot;");
}

function oneLine(value: string): string {
	return value.replaceAll(/\s+/g, " ");
}
