import { writeFileSync } from "node:fs";
import path from "node:path";
import { type Command, Option } from "commander";
import { readBaseline } from "../compare/baseline-file.ts";
import { calibrationFor } from "../compare/calibrate/file.ts";
import { comparingOf, exitCodeOfComparing, type Named, systemsOf } from "../compare/comparing.ts";
import { comparingDocument } from "../document/comparing.ts";
import { type ExitCode, failure } from "../errors.ts";
import { makeFolder } from "../make-folder.ts";
import { reasonOf } from "../reason.ts";
import { comparingJson } from "../render/comparing-json.ts";
import { renderHtml } from "../render/html.ts";
import { renderMarkdown } from "../render/markdown.ts";
import { renderTerminal } from "../render/terminal.ts";
import { terminalLook } from "../terminal/look.ts";
import { ON_INCONCLUSIVE, type OnInconclusive } from "../verdict/exit.ts";
import type { World } from "../world.ts";
import type { Invocation } from "./options.ts";

export function declare(command: Command, { world, exit }: Invocation): void {
	command
		.argument(
			"<runs...>",
			"folders of runs (reports/<run-id>) or baseline.json files; the first is the baseline",
		)
		.option("--systems <old,new>", "compare two systems, the baseline first")
		.option(
			"--calibration <file>",
			"noise of this machine, from mqbench calibrate (default: what calibrate has kept)",
		)
		.option("--json", "print the comparison as JSON")
		.option("--markdown [file.md]", "print the comparison as Markdown, or write it to a file")
		.option("--html <file.html>", "write an HTML page with all curves in one chart")
		.addOption(
			new Option(
				"--on-inconclusive <what>",
				"exit code when the runs do not decide: fail gives 6, warn and pass give 0",
			)
				.choices(ON_INCONCLUSIVE)
				.default("warn"),
		)
		.action(async (paths: string[], options) => exit(await compare({ paths, ...options }, world)));
}

export interface CompareArgs {
	/** Run folders or baseline.json files; the first is the baseline. */
	readonly paths: readonly string[];
	/** "old,new": two systems instead of the same system of two. */
	readonly systems?: string | undefined;
	readonly calibration?: string | undefined;
	readonly json?: boolean | undefined;
	/** true: to stdout, instead of the table. */
	readonly markdown?: string | boolean | undefined;
	readonly html?: string | undefined;
	readonly onInconclusive: OnInconclusive;
}

/** `mqbench compare`: B, C ... against A, over all their runs. */
export async function compare(args: CompareArgs, world: World): Promise<ExitCode> {
	const markdownFile = checkedFile(args.markdown, ".md", "--markdown");
	const htmlFile = checkedFile(args.html, ".html", "--html");
	if (args.json && args.markdown === true)
		throw usage("--json and --markdown both print; give one of them a file: --markdown compare.md");
	const [a, ...rest] = args.paths.map(
		(name): Named => ({ path: name, baseline: readBaseline(path.resolve(world.cwd, name)) }),
	);
	if (a === undefined) throw usage("compare what? mqbench compare A B");
	const systems = systemsOf(args.systems, a, rest);
	const others = rest.length === 0 ? [a] : rest;
	const comparing = comparingOf(a, others, {
		systems,
		calibration: calibrationFor(
			args.calibration,
			others[0]?.baseline.machine ?? null,
			others.flatMap((other) => other.baseline.runs.map(({ work }) => work)),
			world,
		),
	});
	const exit = exitCodeOfComparing(comparing.outcome, args.onInconclusive);
	const document = comparingDocument(comparing);
	if (markdownFile !== null) write(markdownFile, renderMarkdown(document), world);
	if (htmlFile !== null) write(htmlFile, renderHtml(document), world);
	world.stdout.write(
		args.json
			? comparingJson(comparing, exit)
			: args.markdown === true
				? renderMarkdown(document)
				: renderTerminal(document, terminalLook(world.stdout, world.env)),
	);
	// On paper for people the outcome stands last anyway.
	if (args.onInconclusive === "warn" && (args.json || args.markdown === true))
		if (["inconclusive", "advisory"].includes(comparing.outcome))
			world.stderr.write(`Warning: ${comparing.summary}.\n`);
	return exit;
}

// --- internal ---

/** A file that was named where a run was meant must not be overwritten: `--markdown A B`. */
function checkedFile(
	value: string | boolean | undefined,
	ending: string,
	option: string,
): string | null {
	if (value === undefined || typeof value === "boolean") return null;
	if (value.endsWith(ending)) return value;
	const instead = option === "--markdown" ? ", or put --markdown last to print it" : "";
	throw usage(
		`${option} ${value}: nothing was written, as this does not end in ${ending}. Give a file that does${instead}.`,
	);
}

function write(name: string, text: string, world: World): void {
	const file = path.resolve(world.cwd, name);
	try {
		makeFolder(path.dirname(file));
		writeFileSync(file, text);
	} catch (error) {
		throw failure("comparison-unwritable", { path: name, reason: reasonOf(error) });
	}
}

function usage(message: string) {
	return failure("usage", { message });
}
