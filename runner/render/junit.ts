import type { Result, Run } from "../model/result.ts";
import { explain, verdictText } from "../result/explain.ts";
import { type Outcome, outcomeName, outcomesOf } from "../result/outcomes.ts";
import { verdictWord } from "../result/words.ts";
import type { OnInconclusive } from "../verdict/exit.ts";
import { oneLine } from "./markdown/escape.ts";

/** Holds a failure or an error exactly if the exit code is not 0 (`--on-inconclusive`). Valid by junit-10.xsd, for Jenkins and GitLab. */
export function renderJunit(result: Result, onInconclusive?: OnInconclusive): string {
	const names = new Set<string>();
	const kinds: Kind[] = [];
	const cases = outcomesOf(result).map((outcome) => {
		const kind = kindOf(outcome, onInconclusive);
		kinds.push(kind);
		return caseOf(outcome, kind, uniqueIn(names, outcomeName(outcome)), result);
	});
	const count = (kind: Kind) => `${kinds.filter((one) => one === kind).length}`;
	const totals = { tests: `${cases.length}`, failures: count("failure"), errors: count("error") };
	// Each run once, however many SLA lines judge it.
	const time = secondsOf(result.runs);
	const startedAt = result.environment?.startedAt ?? result.runs[0]?.startedAt;
	const suite = {
		name: result.scenario,
		...totals,
		skipped: count("skipped"),
		time,
		...(startedAt ? { timestamp: new Date(startedAt).toISOString().slice(0, 19) } : {}),
	};
	const report = `The whole report: report.html in the folder of the run ${result.runId}.`;
	const summary = `${verdictWord(result)}: ${verdictText(result)}.\n${report}`;
	const parts = [...cases, element("system-out", {}, text(summary))];
	return whole({ ...totals, time }, suite, parts);
}

/** For a command without a result: one error. */
export function junitOfError(scenario: string, message: string): string {
	const totals = { tests: "1", failures: "0", errors: "1" };
	const time = "0.000";
	const inside = [element("error", { type: "error", message }, text(message))];
	const one = element("testcase", { name: "the run itself", classname: scenario, time }, inside);
	return whole({ ...totals, time }, { name: scenario, ...totals, skipped: "0", time }, [one]);
}

// --- internal ---

type Kind = "passed" | "failure" | "error" | "skipped";

function kindOf({ verdict, compares }: Outcome, asked: OnInconclusive | undefined): Kind {
	if (verdict === "pass") return "passed";
	// As for the exit code: an open comparison warns, an open limit fails.
	const open = verdict === "inconclusive" && (asked ?? (compares ? "warn" : "fail")) !== "fail";
	if (open) return "skipped";
	return verdict === "fail" || verdict === "inconclusive" ? "failure" : "error";
}

/** Tools identify cases by their name. */
function uniqueIn(used: Set<string>, plain: string): string {
	let name = plain;
	for (let i = 2; used.has(name); i++) name = `${plain} (${i})`;
	used.add(name);
	return name;
}

function caseOf(outcome: Outcome, kind: Kind, name: string, result: Result): string {
	const { broke, where, when, why, next } = explain(outcome, result);
	const { gate, verdict } = outcome;
	const measured = gate ? [`measured: ${gate.measured}, limit: ${gate.limit}`] : [];
	const lines = [
		broke,
		`where: ${where}`,
		...(when === null ? [] : [`when: ${when}`]),
		...measured,
		...(why === null ? [] : [`why: ${why}`]),
		`what to do: ${next}`,
	];
	const body =
		kind === "passed"
			? element("system-out", {}, text([...measured, outcome.why].join("\n")))
			: element(kind, { type: verdict, message: broke }, text(lines.join("\n")));
	const attributes = { name, classname: result.scenario, time: secondsOf(outcome.runs) };
	return element("testcase", attributes, [body]);
}

/** From T0 until all was settled, else to the window's end. The XSD allows only milliseconds, without thousands separators. */
function secondsOf(runs: readonly Run[]): string {
	const ns = runs.map(({ state, generator, window }) =>
		state === "never" ? 0 : (generator?.endNs ?? window.endNs),
	);
	return (ns.reduce((a, b) => a + b, 0) / 1e9).toFixed(3);
}

function whole(totals: Attributes, suite: Attributes, parts: readonly string[]): string {
	const inside = [element("testsuite", suite, parts)];
	const all = element("testsuites", { name: "mqbench", ...totals }, inside);
	return `<?xml version="1.0" encoding="UTF-8"?>\n${all}\n`;
}

type Attributes = Readonly<Record<string, string>>;

/** `inside`: elements, or escaped text. */
function element(name: string, attributes: Attributes, inside: string | readonly string[]): string {
	const written = Object.entries(attributes).map(
		([key, value]) => ` ${key}="${text(oneLine(value))}"`,
	);
	const within = typeof inside === "string" ? inside : `\n${inside.join("\n")}\n`;
	return `<${name}${written.join("")}>${within}</${name}>`;
}

/** XML 1.0 cannot hold control characters and halves of an emoji, even escaped. */
function text(value: string): string {
	return value
		.replaceAll(/\r\n?/g, "\n")
		.replaceAll(
			// biome-ignore lint/suspicious/noControlCharactersInRegex: XML forbids them.
			/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]|\p{Surrogate}/gu,
			"\ufffd",
		)
		.replaceAll(/[&<>"]/g, (c) => ENTITIES[c] ?? c);
}

const ENTITIES: Readonly<Record<string, string>> = {
	"&": "&amp;",
	"<": "&lt;",
	">": "&gt;",
	'"': "&quot;",
};
