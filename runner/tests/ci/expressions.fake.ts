import {
	data,
	Evaluator,
	type Expr,
	Lexer,
	Parser,
	wellKnownFunctions,
} from "@actions/expressions";

/** What came before in a job. */
export type Status = "success" | "failure" | "cancelled";

/** What GitHub puts in the place of each `${{ }}` of a text. `values`: its contexts, by name; one that is not among them is an error. */
export function filled(text: string, values: object): string {
	return text.replaceAll(/\$\{\{(.*?)\}\}/gs, (_, expression: string) =>
		evaluated(expression, values).coerceString(),
	);
}

/** Whether an `if` lets a job or a step run: without a word about the status it asks for success, too. */
export function holds(condition: string | undefined, status: Status, values: object): boolean {
	const text = (condition ?? "").trim().replace(/^\$\{\{(.*)\}\}$/s, "$1");
	const asked = STATUS_WORDS.some((word) => text.includes(`${word}()`));
	if (!asked && status !== "success") return false;
	return text === "" || evaluated(`!!(${text})`, values, status).number() === 1;
}

/** All expressions of a file: what stands in `${{ }}`, and each `if`. */
export function expressionsOf(text: string): string[] {
	return [
		...[...text.matchAll(/\$\{\{(.*?)\}\}/gs)].map(([, inside = ""]) => inside),
		...[...text.matchAll(/^\s*(?:- )?if: (?!["']?\$\{\{)(.*)$/gm)].map(([, inside = ""]) => inside),
	].map((expression) => expression.trim());
}

/** An expression as a tree, whatever contexts it names. */
export function parsed(expression: string): Expr {
	return new Parser(new Lexer(expression).lex().tokens, CONTEXTS, [
		...Object.values(wellKnownFunctions),
		...statusFunctions("success").values(),
	]).parse();
}

// --- internal ---

const STATUS_WORDS = ["success", "failure", "cancelled", "always"];
const CONTEXTS = [
	"env",
	"github",
	"inputs",
	"job",
	"jobs",
	"matrix",
	"needs",
	"runner",
	"secrets",
	"steps",
	"strategy",
	"vars",
];

function evaluated(expression: string, values: object, status: Status = "success") {
	const functions = statusFunctions(status);
	const tree = new Parser(new Lexer(expression).lex().tokens, Object.keys(values), [
		...Object.values(wellKnownFunctions),
		...functions.values(),
	]).parse();
	const contexts = JSON.parse(JSON.stringify(values), data.reviver);
	return new Evaluator(tree, contexts, functions).evaluate();
}

function statusFunctions(status: Status) {
	return new Map(
		STATUS_WORDS.map((name) => [
			name,
			{
				name,
				minArgs: 0,
				maxArgs: 0,
				call: () => new data.BooleanData(name === "always" || name.startsWith(status)),
			},
		]),
	);
}
