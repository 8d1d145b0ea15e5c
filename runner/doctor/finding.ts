import { styleText } from "node:util";
import type { TerminalLook } from "../terminal/look.ts";
import { wrap } from "../terminal/wrap.ts";
import type { Machine } from "./this-machine.ts";

/** ok; warn (expect a longer tail); bad (do not measure here); info (background); unknown (could not be read). */
export type Verdict = keyof typeof COLOURS;

export type Finding = Awaited<ReturnType<typeof finding>>;

/** Absent sentence and remedy come from its row. */
export interface Reading {
	readonly verdict: Verdict;
	readonly figure: string;
	readonly sentence?: string;
	readonly remedy?: string;
}

/** A row of the table of checks. If it throws, the finding is `unknown`. */
export interface Check {
	readonly name: string;
	/** It measures time, so nothing else may run with it. */
	readonly alone?: true;
	/** null if it cannot be read. */
	read(machine: Machine): Promise<Reading | null> | Reading | null;
	readonly means?: Readonly<Partial<Record<Verdict, string>>>;
	readonly remedy?: string;
}

/** First the checks that measure time, one by one, then the others together. A check that cannot read its value is `unknown`. */
export async function examine(machine: Machine, checks: readonly Check[]): Promise<Finding[]> {
	const findings = new Map<Check, Finding>();
	const look = async (check: Check) => void findings.set(check, await finding(check, machine));
	for (const check of checks) if (check.alone) await look(check);
	await Promise.all(checks.map((check) => check.alone || look(check)));
	return checks.flatMap((check) => findings.get(check) ?? []);
}

export function renderFindings(
	findings: readonly Finding[],
	{ columns, colour }: Pick<TerminalLook, "columns" | "colour">,
): string {
	const width = Math.max(40, columns);
	const indent = " ".repeat(FIRST);
	const lines = findings.flatMap(({ check, verdict, figure, sentence, remedy }) => {
		const word = verdict.padEnd(FIRST);
		const [first = "", ...rest] = wrap(`${check}: ${figure}. ${sentence}`, width, indent);
		const begin = colour ? styleText(COLOURS[verdict], word, { validateStream: false }) : word;
		const remedies = remedy?.split("\n").flatMap((line, i) => {
			const text = `${i === 0 ? "Remedy: " : ""}${line}`;
			return COMMAND.test(line) ? `${indent}  ${text}` : wrap(text, width, `${indent}  `);
		});
		return [begin + first.slice(FIRST), ...rest, ...(remedies ?? [])];
	});
	const counts = (["bad", "warn", "unknown"] as const).flatMap((verdict) => {
		const count = findings.filter((one) => one.verdict === verdict).length;
		return count === 0 ? [] : `${count} ${verdict}`;
	});
	const summary = `${MEANS[worst(findings)]}${counts.length > 0 ? ` (${counts.join(", ")})` : ""}`;
	return `${[...lines, "", ...wrap(summary, width)].join("\n")}\n`;
}

/** Ignores `info` and `unknown`, which are not findings against the machine. */
export function worst(findings: readonly Finding[]): keyof typeof MEANS {
	const is = (verdict: Verdict) => findings.some((one) => one.verdict === verdict);
	return is("bad") ? "bad" : is("warn") ? "warn" : "ok";
}

// --- internal ---

const LONGEST_MS = 2000;

async function finding(check: Check, machine: Machine) {
	const timeout = AbortSignal.timeout(LONGEST_MS);
	const late = new Promise<never>((_, reject) =>
		timeout.addEventListener("abort", () => reject(new Error("no answer within 2 s"))),
	);
	const unknown = { verdict: "unknown", figure: "unknown" } as const;
	const read = async (): Promise<Reading> => (await check.read(machine)) ?? unknown;
	const found = await Promise.race([read(), late]).catch((error: unknown): Reading => {
		const why = error instanceof Error ? error.message : error;
		return { ...unknown, sentence: `The check failed: ${why}.` };
	});
	const { verdict, figure } = found;
	const remedy = verdict === "warn" || verdict === "bad" ? check.remedy : undefined;
	return {
		check: check.name,
		verdict,
		figure,
		sentence: found.sentence ?? check.means?.[verdict] ?? "It cannot be read.",
		remedy: found.remedy ?? remedy ?? null,
	};
}

/** A command to be copied, and so not wrapped. */
const COMMAND = /^(sudo|echo) /;

const FIRST = "unknown".length + 2;

const COLOURS = { ok: "green", info: "cyan", unknown: "gray", warn: "yellow", bad: "red" } as const;

const MEANS = {
	ok: "This machine is fit for measuring.",
	warn: "You can measure here, but each warn above can make messages look slower than the broker is.",
	bad: "Do not measure here until everything that is bad is fixed.",
};
