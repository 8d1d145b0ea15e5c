import { randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { documentOf } from "../document/document.ts";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import type { Result } from "../model/result.ts";
import { reasonOf } from "../reason.ts";
import { REPORT_FILES, type Reporter, reportFile } from "../result/reporters.ts";
import { maskUrls } from "../secrets.ts";
import { terminalLook } from "../terminal/look.ts";
import { exitCodeOf, type OnInconclusive } from "../verdict/exit.ts";
import { issue } from "../workflow-log.ts";
import type { World } from "../world.ts";
import { annotations, outputText } from "./github.ts";
import { junitOfError } from "./junit.ts";
import { renderMarkdown, SUMMARY } from "./markdown.ts";
import { renderTerminal } from "./terminal.ts";

export interface Delivery {
	readonly result: Result;
	/** Every report is in it already. */
	readonly folder: string;
	readonly reporters: readonly Reporter[];
	readonly onInconclusive?: OnInconclusive | undefined;
	readonly quiet?: boolean | undefined;
}

/** Returns the exit code. A copy that cannot be written is reported last, and raises the code to 3 unless the result's own is worse. */
export function deliver(
	{ result, folder, reporters, onInconclusive, quiet }: Delivery,
	world: World,
): ExitCode {
	const shown = shownPath(folder, world);
	const unwritten = reporters.flatMap(({ name, path: to }) => {
		const file = reportFile(name);
		if (file === null || to === null || to === "-") return [];
		try {
			writeCopy(to, readFileSync(path.join(folder, file)), world);
			return [];
		} catch (error) {
			return failure("report-unwritable", { path: to, reason: reasonOf(error), folder: shown });
		}
	});
	const own = exitCodeOf(result, onInconclusive);
	const code = unwritten.length > 0 && !WORSE.has(own) ? EXIT.environment : own;
	// With a file on stdout nothing else may go there.
	const beside = reporters.some(({ path }) => path === "-") ? world.stderr : world.stdout;
	for (const { name, path: to } of reporters) {
		const file = reportFile(name);
		if (file === null) continue;
		if (to === "-") {
			const text = readFileSync(path.join(folder, file), "utf8");
			// The same JSON without old commands of a GitHub log.
			world.stdout.write(name === "json" ? text.replaceAll("##[", "#\\u0023[") : text);
		} else if (to === null && !quiet) beside.write(`${name}: ${path.join(shown, file)}\n`);
	}
	if (reporters.some(({ name }) => name === "github")) {
		for (const line of annotations(result, onInconclusive)) issue(beside, line);
		forGithub("GITHUB_STEP_SUMMARY", (file) => addToSummary(file, result, world), world);
		const outputs = outputText(result, folder, code, randomUUID());
		forGithub("GITHUB_OUTPUT", (file) => appendFileSync(file, outputs), world);
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

/** CI would show nothing of a command that comes to no result, so its error is delivered too; `make` says when a result was delivered. */
export async function deliveringErrors<T>(
	scenario: string,
	reporters: readonly Reporter[],
	world: World,
	make: (delivered: () => void) => Promise<T>,
): Promise<T> {
	let isDelivered = false;
	try {
		return await make(() => {
			isDelivered = true;
		});
	} catch (error) {
		const text = junitOfError(scenario, maskUrls((error as Error).message));
		for (const { name, path: to } of isDelivered ? [] : reporters)
			if (name === "junit" && to) tried(to, world, () => writeCopy(to, text, world));
		throw error;
	}
}

/** Relative if it is below the working directory. */
export function shownPath(folder: string, { cwd }: Pick<World, "cwd">): string {
	const here = path.relative(cwd, folder);
	return here.startsWith("..") ? folder : here;
}

// --- internal ---

/** Codes that matter more than a missing file. */
const WORSE: ReadonlySet<ExitCode> = new Set([EXIT.internal, EXIT.interrupted, EXIT.terminated]);

/** Bytes below which a report is useless. */
const LEAST_SUMMARY = 5000;

/** GitHub refuses a summary above 1 MiB, including its present content. */
function addToSummary(file: string, result: Result, { stderr }: World): void {
	const there = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
	const most = SUMMARY - there - 1;
	if (most < LEAST_SUMMARY)
		stderr.write("The summary of this step is full; the report is in the folder of the run.\n");
	else {
		const text = renderMarkdown(documentOf(result), { most, marked: false });
		appendFileSync(file, `${there > 0 ? "\n" : ""}${text}`);
	}
}

/** A failure keeps the exit code: GitHub's display is not worth another one. */
function forGithub(variable: string, add: (file: string) => void, world: World): void {
	const file = world.env[variable];
	if (file) tried(`$${variable}`, world, () => add(file));
}

function tried(what: string, world: World, write: () => void): void {
	try {
		write();
	} catch (error) {
		world.stderr.write(`${what} cannot be written (${reasonOf(error)}).\n`);
	}
}

function writeCopy(to: string, content: string | Buffer, { cwd, stdout }: World): void {
	if (to === "-") return void stdout.write(String(content));
	mkdirSync(path.dirname(path.resolve(cwd, to)), { recursive: true });
	writeFileSync(path.resolve(cwd, to), content);
}
