import { failure } from "../errors.ts";
import { didYouMean } from "../suggest.ts";
import type { World } from "../world.ts";

/** The formats that are files, which every run's folder has anyway, by their name there. */
export const REPORT_FILES = {
	json: "result.json",
	junit: "junit.xml",
	markdown: "report.md",
	csv: "result.csv",
	html: "report.html",
} as const;
const FILES = Object.keys(REPORT_FILES) as (keyof typeof REPORT_FILES)[];

/** What `--reporter` knows: what is printed, and the files. */
export const REPORTERS = ["terminal", "github", ...FILES] as const;
type ReporterName = (typeof REPORTERS)[number];

export interface Reporter {
	readonly name: ReporterName;
	/** Of a file: where a copy goes, "-": stdout; null: only to say where the file is. */
	readonly path: string | null;
}

export interface ReporterArgs {
	/** `--reporter`, as often as it was given: "json,junit=out/junit.xml". */
	readonly reporter?: readonly string[] | undefined;
	/** `--json`: short for json=-. */
	readonly json?: boolean | undefined;
	/** `--quiet`: nothing for people. */
	readonly quiet?: boolean | undefined;
}

/**
 * What is to be printed and written. Without --reporter the terminal's report (with --json that on stdout instead), in a job of
 * GitHub Actions with its annotations. Throws before anything is measured when a name is unknown, or two want stdout.
 */
export function reportersOf(
	{ reporter, json, quiet }: ReporterArgs,
	{ env }: Pick<World, "env">,
): Reporter[] {
	const asked = reporter?.flatMap((text) => text.split(",")).map((text) => text.trim());
	const terminal = json || quiet ? [] : ["terminal"];
	const github = env.GITHUB_ACTIONS === "true" && !quiet ? ["github"] : [];
	const all = [...(json ? ["json=-"] : []), ...(asked ?? [...terminal, ...github])]
		.map(parse)
		.filter(({ name }) => !(quiet && name === "terminal"));
	const printed = all.filter(onStdout).map(({ name }) => name);
	if (printed.length > 1)
		throw usage(
			`stdout can hold one of ${printed.join(", ")}: give the others a path, e.g. --reporter json=<file>`,
		);
	return all;
}

/** Does it fill stdout? Annotations are lines of a log beside it. */
export function onStdout({ name, path }: Reporter): boolean {
	return name === "terminal" || path === "-";
}

/** The reporter's file in the folder of the run; null: it is printed. */
export function reportFile(name: ReporterName): string | null {
	return name === "terminal" || name === "github" ? null : REPORT_FILES[name];
}

// --- internal ---

function usage(message: string) {
	return failure("usage", { message });
}

function parse(reporter: string): Reporter {
	const [word = "", ...rest] = reporter.split("=");
	const path = rest.length === 0 ? null : rest.join("=");
	const name = REPORTERS.find((known) => known === word);
	// The list always: a misspelt name may mean another than the nearest.
	if (name === undefined)
		throw usage(
			`--reporter ${word}: there is no such reporter${didYouMean(word, REPORTERS).replace(/; known:.*/, "")} (known: ${REPORTERS.join(", ")})`,
		);
	if (path !== null && (path === "" || reportFile(name) === null))
		throw usage(`--reporter ${reporter}: only a file takes a path, e.g. junit=out/junit.xml`);
	return { name, path };
}
