import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { documentOf } from "../document/document.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import type { Result } from "../model/result.ts";
import { reasonOf } from "../reason.ts";
import { onStdout, REPORT_FILES, type Reporter } from "../result/reporters.ts";
import { terminalLook } from "../terminal/look.ts";
import { tell } from "../text/tell.ts";
import { exitCodeOf, type OnInconclusive } from "../verdict/exit.ts";
import { issue } from "../workflow-log.ts";
import type { World } from "../world.ts";
import { copiesOf, writeCopy } from "./copies.ts";
import { annotations, outputsOf, outputText } from "./github.ts";
import { renderMarkdown, SUMMARY } from "./markdown.ts";
import { renderTerminal } from "./terminal.ts";

export interface Delivery {
	readonly result: Result;
	/** Folder of the run, in which every report is written already. */
	readonly folder: string;
	readonly reporters: readonly Reporter[];
	readonly onInconclusive?: OnInconclusive | undefined;
	/** Say nothing to people. */
	readonly quiet?: boolean | undefined;
}

/**
 * Prints a result and puts copies of its files where they were asked for; gives the exit code. A copy that cannot be written keeps
 * nothing else from being delivered: it is told last, and makes the code 3 where the result's own says less.
 */
export function deliver(
	{ result, folder, reporters, onInconclusive, quiet }: Delivery,
	world: World,
): ExitCode {
	const shown = shownPath(folder, world);
	const unwritten = copiesOf(reporters)
		.map((copy) => {
			const from = path.join(folder, REPORT_FILES[copy.name]);
			return writeCopy(copy, from, shown, world);
		})
		.filter((error) => error !== null);
	const own = exitCodeOf(result, onInconclusive);
	const code = unwritten.length > 0 && !WORSE.has(own) ? EXIT.environment : own;
	const file = reporters.find((r) => onStdout(r) && r.kind === "file");
	// Beside a file on stdout nothing else may stand there.
	const beside = file === undefined ? world.stdout : world.stderr;
	for (const reporter of reporters) {
		if (reporter.kind === "printed") continue;
		const name = REPORT_FILES[reporter.name];
		if (reporter.path === "-") {
			const text = readFileSync(path.join(folder, name), "utf8");
			world.stdout.write(reporter.name === "json" ? harmless(text) : text);
		} else if (reporter.path === null) {
			if (!quiet) beside.write(`${reporter.name}: ${path.join(shown, name)}\n`);
		}
	}
	if (reporters.some(({ name }) => name === "github")) {
		for (const line of annotations(result, onInconclusive)) issue(beside, line);
		addToSummary(result, world);
		addToOutput(outputsOf(result, folder, code), world);
	}
	// Last on stdout: its last line is the verdict.
	if (reporters.some(({ name }) => name === "terminal"))
		world.stdout.write(
			renderTerminal(documentOf(result), {
				...terminalLook(world.stdout, world.env),
				report: path.join(shown, REPORT_FILES.html),
			}),
		);
	for (const { message } of unwritten) world.stderr.write(`${message}\n`);
	return code;
}

/** As a person finds it: from here, where it is below here. */
export function shownPath(folder: string, { cwd }: Pick<World, "cwd">): string {
	const here = path.relative(cwd, folder);
	return here.startsWith("..") ? folder : here;
}

// --- internal ---

/** What a file that is missing says less than. */
const WORSE: ReadonlySet<ExitCode> = new Set([EXIT.internal, EXIT.interrupted, EXIT.terminated]);

/** Least room in which a report says something. */
const LEAST_SUMMARY = 5000;

/** JSON that means the same, and holds no old command of a GitHub log. */
function harmless(json: string): string {
	return json.replaceAll("##[", "#\\u0023[");
}

/** What is there already counts: GitHub refuses a summary of more than 1 MiB, with all that is in it. */
function addToSummary(result: Result, { env, stderr }: World): void {
	const where = env.GITHUB_STEP_SUMMARY;
	if (!where) return;
	try {
		const there = statSync(where, { throwIfNoEntry: false })?.size ?? 0;
		const most = SUMMARY.most - there - 1;
		if (most < LEAST_SUMMARY) stderr.write(tell("step-summary-full"));
		else
			appendFileSync(
				where,
				`${there > 0 ? "\n" : ""}${renderMarkdown(documentOf(result), { size: { ...SUMMARY, most }, marked: false })}`,
			);
	} catch (error) {
		warnUnwritable("GITHUB_STEP_SUMMARY", error, stderr);
	}
}

function addToOutput(outputs: Readonly<Record<string, string>>, { env, stderr }: World): void {
	if (!env.GITHUB_OUTPUT) return;
	try {
		appendFileSync(env.GITHUB_OUTPUT, outputText(outputs, randomUUID()));
	} catch (error) {
		warnUnwritable("GITHUB_OUTPUT", error, stderr);
	}
}

/** The verdict stands all the same: what GitHub shows of it is not worth another exit code. */
function warnUnwritable(variable: string, error: unknown, stderr: World["stderr"]): void {
	stderr.write(
		tell("step-summary-unwritable", { variable: `$${variable}`, reason: reasonOf(error) }),
	);
}
