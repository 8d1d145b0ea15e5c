/**
 * The catalogue: code -> exit code and what a person reads (where, what, what to do). A code is
 * permanent once released. Expected errors are thrown as `MqbenchError` and printed without a stack.
 */
const catalogue = {
	usage: { exit: 2, text: (d: { message: string }) => d.message },
	"scenario-invalid": {
		exit: 2,
		// The report of load.ts: every mistake of the file with line, column and caret.
		text: (d: { report: string }) => d.report,
	},
	"scenario-unreadable": {
		exit: 2,
		text: (d: { path: string; reason: string }) =>
			`${d.path}: cannot be read (${d.reason}). Give the path of a scenario file, e.g. mqbench scenarios/quickstart.yaml`,
	},
} as const satisfies Record<string, Entry>;

type Entry = {
	exit: ExitCode;
	// biome-ignore lint/suspicious/noExplicitAny: each entry names its own fields; callers are typed by Details<Code>.
	text: (details: any) => string;
};
export type ErrorCode = keyof typeof catalogue;
type Details<Code extends ErrorCode> = Parameters<
	(typeof catalogue)[Code]["text"]
>[0];

/** Exit codes (README, "Exit codes"). */
export const EXIT = {
	pass: 0,
	internal: 1,
	usage: 2,
	environment: 3,
	invalid: 4,
	leftBehind: 5,
	inconclusive: 6,
	fail: 99,
	interrupted: 130,
	terminated: 143,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An error that a person can act on. Printed as its message alone, never with a stack. */
export class MqbenchError extends Error {
	readonly code: ErrorCode;
	readonly exit: ExitCode;
	constructor(code: ErrorCode, message: string, exit: ExitCode) {
		super(message);
		this.code = code;
		this.exit = exit;
	}
}

/** Makes (does not throw) the error of `code`. */
export function failure<Code extends ErrorCode>(
	code: Code,
	details: Details<Code>,
): MqbenchError {
	const entry: Entry = catalogue[code];
	return new MqbenchError(code, entry.text(details), entry.exit);
}
