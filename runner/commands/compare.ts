import { writeFileSync } from "node:fs";
import path from "node:path";
import {
	knownCalibration,
	readCalibration,
} from "../compare/calibrate/file.ts";
import {
	type Comparing,
	comparingOf,
	exitCodeOfComparing,
	type Named,
} from "../compare/comparing.ts";
import { type ExitCode, failure } from "../errors.ts";
import { makeFolder } from "../make-folder.ts";
import type { Calibration } from "../model/comparison.ts";
import { reasonOf } from "../reason.ts";
import { comparingMarkdown } from "../report/comparison/markdown.ts";
import { comparingPage } from "../report/comparison/page.ts";
import { renderComparing } from "../report/comparison/terminal.ts";
import { readableJson } from "../report/json.ts";
import { readBaseline } from "../report/read-baseline.ts";
import { terminalLook } from "../terminal/look.ts";
import type { OnInconclusive } from "../verdict/exit.ts";
import type { World } from "../world.ts";

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
export async function compare(
	args: CompareArgs,
	world: World,
): Promise<ExitCode> {
	const markdownFile = checkedFile(args.markdown, ".md", "--markdown");
	const htmlFile = checkedFile(args.html, ".html", "--html");
	if (args.json && args.markdown === true)
		throw usage(
			"--json and --markdown both print; give one of them a file: --markdown compare.md",
		);
	const [a, ...rest] = args.paths.map(
		(name): Named => ({
			path: name,
			baseline: readBaseline(path.resolve(world.cwd, name)),
		}),
	);
	if (a === undefined) throw usage("compare what? mqbench compare A B");
	const systems = systemsOf(args.systems, a, rest);
	const others = rest.length === 0 ? [a] : rest;
	const comparing = comparingOf(a, others, {
		systems,
		calibration: calibrationOf(args.calibration, others, world),
	});
	const exit = exitCodeOfComparing(comparing.outcome, args.onInconclusive);
	if (markdownFile !== null)
		write(markdownFile, comparingMarkdown(comparing), world);
	if (htmlFile !== null) write(htmlFile, comparingPage(comparing), world);
	world.stdout.write(
		args.json
			? `${readableJson(jsonOf(comparing, exit))}\n`
			: args.markdown === true
				? comparingMarkdown(comparing)
				: renderComparing(comparing, terminalLook(world.stdout, world.env)),
	);
	// On paper for people the outcome stands last anyway.
	if (args.onInconclusive === "warn" && (args.json || args.markdown === true))
		if (["inconclusive", "advisory"].includes(comparing.outcome))
			world.stderr.write(`Warning: ${comparing.summary}.\n`);
	return exit;
}

// --- internal ---

function usage(message: string) {
	return failure("usage", { message });
}

/** A file that was named where a run was meant must not be overwritten: `--markdown A B`. */
function checkedFile(
	value: string | boolean | undefined,
	ending: string,
	option: string,
): string | null {
	if (value === undefined || typeof value === "boolean") return null;
	if (value.endsWith(ending)) return value;
	throw usage(
		`${option} ${value}: nothing was written, as this does not end in ${ending}. Give a file that does${option === "--markdown" ? ", or put --markdown last to print it" : ""}.`,
	);
}

function systemsOf(
	given: string | undefined,
	a: Named,
	rest: readonly Named[],
): readonly [string, string] | null {
	const known = (of: Named) => [
		...new Set(of.baseline.runs.map((run) => run.system)),
	];
	if (given === undefined) {
		if (rest.length > 0) return null;
		throw usage(
			`${a.path}: what is it to be compared with? Give a second run (mqbench compare A B)${known(a).length > 1 ? `, or two of its systems (--systems ${known(a).slice(0, 2).join(",")})` : ""}.`,
		);
	}
	const [first, second, ...more] = given.split(",").map((name) => name.trim());
	if (!first || !second || more.length > 0)
		throw usage(
			`--systems ${given}: give two names, the baseline first, e.g. --systems old,new`,
		);
	for (const [name, of] of [
		[first, a] as const,
		...(rest.length === 0 ? [a] : rest).map((one) => [second, one] as const),
	])
		if (!known(of).includes(name))
			throw usage(
				`${of.path}: has no system ${name}; it has ${known(of).join(", ") || "none"}`,
			);
	return [first, second];
}

/** The one that was named, or what `mqbench calibrate` has left of these machines and works. */
function calibrationOf(
	given: string | undefined,
	others: readonly Named[],
	world: World,
): Calibration | null {
	if (given !== undefined)
		return readCalibration(path.resolve(world.cwd, given));
	const [first] = others;
	const machine = first?.baseline.machine ?? null;
	if (machine === null) return null;
	const works = others.flatMap((o) => o.baseline.runs.map((run) => run.work));
	return knownCalibration(machine, works, world);
}

function write(name: string, text: string, world: World): void {
	const file = path.resolve(world.cwd, name);
	try {
		makeFolder(path.dirname(file));
		writeFileSync(file, text);
	} catch (error) {
		throw failure("comparison-unwritable", {
			path: name,
			reason: reasonOf(error),
		});
	}
}

function jsonOf({ a, others, outcome, summary }: Comparing, exitCode: number) {
	const side = ({ path: where, baseline }: Named) => {
		const { scenario, runId, startedAt, mqbench, machine } = baseline;
		return { path: where, scenario, runId, startedAt, mqbench, machine };
	};
	return {
		schema: 1,
		outcome,
		summary,
		exitCode,
		a: side(a),
		others: others.map((other) => ({
			...side(other),
			outcome: other.outcome,
			comparisons: other.comparisons,
			notCompared: other.notCompared,
			differences: other.differences,
		})),
	};
}
