import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type Command, Option } from "commander";
import { readBaseline } from "../compare/baseline-file.ts";
import { calibrationFor } from "../compare/calibrate/file.ts";
import { comparingOf, exitCodeOfComparing, type Named, systemsOf } from "../compare/comparing.ts";
import { comparingDocument } from "../document/comparing.ts";
import { type ExitCode, failure } from "../errors.ts";
import { reasonOf } from "../reason.ts";
import { comparingJson } from "../render/comparing-json.ts";
import { renderHtml } from "../render/html.ts";
import { renderMarkdown } from "../render/markdown.ts";
import { renderTerminal } from "../render/terminal.ts";
import { terminalLook } from "../terminal/look.ts";
import type { OnInconclusive } from "../verdict/exit.ts";
import type { World } from "../world.ts";
import { type Action, calibrationOption, inconclusiveOption } from "./options.ts";

export function declare(command: Command, on: Action): void {
	command
		.argument("<baseline>", "the folder of a run (reports/<run-id>), or a baseline.json file")
		.argument("[run]", "the run to compare with it: another folder or file")
		.option("--systems <old,new>", "compare two systems, the baseline first")
		.addOption(calibrationOption())
		.option("--json", "print the comparison as JSON")
		.addOption(new Option("--markdown", "print the comparison as Markdown").conflicts("json"))
		.option("--html <file.html>", "write an HTML page with charts of the ratios")
		.addOption(
			inconclusiveOption(
				"exit code when the runs do not decide: fail gives 6, warn and pass give 0",
			).default("warn"),
		)
		.action(on(compare, "baseline", "run"));
}

interface CompareArgs {
	readonly baseline: string;
	/** If undefined, two systems of the first are compared. */
	readonly run?: string | undefined;
	readonly systems?: string | undefined;
	readonly calibration?: string | undefined;
	readonly json?: boolean | undefined;
	readonly markdown?: boolean | undefined;
	readonly html?: string | undefined;
	readonly onInconclusive: OnInconclusive;
}

export async function compare(args: CompareArgs, world: World): Promise<ExitCode> {
	const { json, markdown, html, onInconclusive } = args;
	// In `--html A B` A is a run that must not be overwritten.
	if (html !== undefined && !html.endsWith(".html"))
		throw failure("usage", {
			message: `--html ${html}: nothing was written, because this does not end in .html. Give a file that does.`,
		});
	const named = (name: string): Named => ({
		path: name,
		baseline: readBaseline(path.resolve(world.cwd, name)),
	});
	const a = named(args.baseline);
	const other = args.run === undefined ? null : named(args.run);
	const systems = systemsOf(args.systems, a, other);
	const b = other ?? a;
	const { machine, runs } = b.baseline;
	const works = runs.map(({ work }) => work);
	const calibration = calibrationFor(args.calibration, machine, works, world);
	const comparing = comparingOf(a, b, { systems, calibration });
	const exit = exitCodeOfComparing(comparing.outcome, onInconclusive);
	const document = comparingDocument(comparing);
	if (html !== undefined) write(html, renderHtml(document), world);
	world.stdout.write(
		json
			? comparingJson(comparing, exit)
			: markdown
				? renderMarkdown(document)
				: renderTerminal(document, terminalLook(world.stdout, world.env)),
	);
	// People read the outcome in the last line anyway.
	const open = ["inconclusive", "advisory"].includes(comparing.outcome);
	if (open && onInconclusive === "warn" && (json || markdown))
		world.stderr.write(`Warning: ${comparing.summary}.\n`);
	return exit;
}

// --- internal ---

function write(name: string, text: string, world: World): void {
	const file = path.resolve(world.cwd, name);
	try {
		mkdirSync(path.dirname(file), { recursive: true });
		writeFileSync(file, text);
	} catch (error) {
		throw failure("comparison-unwritable", { path: name, reason: reasonOf(error) });
	}
}
