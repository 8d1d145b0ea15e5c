import { failure } from "../errors.ts";
import { didYouMean } from "../suggest.ts";
import type { World } from "../world.ts";

export const REPORT_FILES = {
	json: "result.json",
	junit: "junit.xml",
	markdown: "report.md",
	csv: "result.csv",
	html: "report.html",
} as const;
const FILES = Object.keys(REPORT_FILES) as (keyof typeof REPORT_FILES)[];

export const REPORTERS = ["terminal", "github", ...FILES] as const;
type ReporterName = (typeof REPORTERS)[number];

export interface Reporter {
	readonly name: ReporterName;
	/** Where a file's copy goes; "-" is stdout, null only prints where the file is. */
	readonly path: string | null;
}

export interface ReporterArgs {
	/** `--reporter`, repeatable: "json,junit=out/junit.xml". */
	readonly reporter?: readonly string[] | undefined;
	/** `--json`: short for json=-. */
	readonly json?: boolean | undefined;
	readonly quiet?: boolean | undefined;
}

/** Default: the terminal's report and, in GitHub Actions, annotations. Throws before measuring if a name is unknown or two want stdout. */
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

/** Annotations are lines of a log and may be next to it. */
export function onStdout({ name, path }: Reporter): boolean {
	return name === "terminal" || path === "-";
}

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
	// Always with the list: the nearest name may not be the intended one.
	if (name === undefined)
		throw usage(
			`--reporter ${word}: there is no such reporter${didYouMean(word, REPORTERS).replace(/; known:.*/, "")} (known: ${REPORTERS.join(", ")})`,
		);
	if (path !== null && (path === "" || reportFile(name) === null))
		throw usage(`--reporter ${reporter}: only a file takes a path, e.g. junit=out/junit.xml`);
	return { name, path };
}
