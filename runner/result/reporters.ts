import { failure } from "../errors.ts";
import { didYouMean } from "../suggest.ts";
import { tell } from "../text/tell.ts";
import type { World } from "../world.ts";

/** What `--reporter` knows: what is printed, and the files that every run's folder has anyway. */
export const REPORTERS = [
	"terminal",
	"json",
	"junit",
	"markdown",
	"csv",
	"github",
	"html",
] as const;
type ReporterName = (typeof REPORTERS)[number];

/** The formats that are files, by their name in the folder of the run. */
export const REPORT_FILES = {
	json: "result.json",
	junit: "junit.xml",
	markdown: "report.md",
	csv: "result.csv",
	html: "report.html",
} as const satisfies Partial<Record<ReporterName, string>>;
export type FileReporter = keyof typeof REPORT_FILES;

export type Reporter =
	| { readonly kind: "printed"; readonly name: "terminal" | "github" }
	| {
			readonly kind: "file";
			readonly name: FileReporter;
			/** Where a copy goes, "-": stdout; null: only to say where the file is. */
			readonly path: string | null;
	  };

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
	const asked = reporter
		?.flatMap((text) => text.split(","))
		.map((text) => text.trim())
		.filter((text) => text !== "")
		.map(parse);
	if (asked?.length === 0)
		throw failure("usage", { message: `--reporter: names none; it takes ${REPORTERS.join(", ")}` });
	const all: Reporter[] = [
		...(json ? [JSON_ON_STDOUT] : []),
		...(asked ?? usual(json, quiet, env)),
	].filter((r) => !(quiet && r.name === "terminal"));
	const printed = all.filter(onStdout);
	if (printed.length > 1)
		throw failure("usage", {
			message: tell("one-on-stdout", {
				reporters: printed.map(({ name }) => (name === "terminal" ? name : `${name}=-`)),
				example: printed.find(({ name }) => name !== "terminal")?.name ?? "",
			}),
		});
	return all;
}

/** Does it fill stdout? Annotations are lines of a log beside it. */
export function onStdout(reporter: Reporter): boolean {
	return reporter.kind === "file" ? reporter.path === "-" : reporter.name === "terminal";
}

// --- internal ---

const TERMINAL: Reporter = { kind: "printed", name: "terminal" };
const GITHUB: Reporter = { kind: "printed", name: "github" };
const JSON_ON_STDOUT: Reporter = { kind: "file", name: "json", path: "-" };

function usual(
	json: boolean | undefined,
	quiet: boolean | undefined,
	env: World["env"],
): Reporter[] {
	if (quiet) return [];
	return [...(json ? [] : [TERMINAL]), ...(env.GITHUB_ACTIONS === "true" ? [GITHUB] : [])];
}

function parse(text: string): Reporter {
	const equals = text.indexOf("=");
	const word = equals < 0 ? text : text.slice(0, equals);
	const path = equals < 0 ? null : text.slice(equals + 1);
	const name = REPORTERS.find((known) => known === word);
	if (name === undefined)
		throw failure("usage", {
			message: tell("reporter-unknown", { reporter: word, suggestion: suggestion(word) }),
		});
	if (name === "terminal" || name === "github") {
		if (path !== null)
			throw failure("usage", { message: tell("reporter-takes-no-path", { reporter: text, name }) });
		return name === "terminal" ? TERMINAL : GITHUB;
	}
	if (path === "")
		throw failure("usage", {
			message: tell("reporter-lacks-path", { reporter: text, name, file: REPORT_FILES[name] }),
		});
	return { kind: "file", name, path };
}

/** The list always: who has misspelt one may want another. */
function suggestion(word: string): string {
	const guess = didYouMean(word, REPORTERS);
	const known = `known: ${REPORTERS.join(", ")}`;
	return guess.includes("known:") ? guess : `${guess} (${known})`;
}
