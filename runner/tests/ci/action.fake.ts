import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { data, Evaluator, Lexer, Parser, wellKnownFunctions } from "@actions/expressions";
import { parse } from "yaml";
import { testFolder } from "../../../infra/test-folder.fake.ts";
import { packageFolder } from "../../package.ts";

/** An action.yml. */
export interface Action {
	readonly name: string;
	readonly description: string;
	readonly inputs: Readonly<Record<string, Input>>;
	readonly outputs?: Readonly<Record<string, { description: string; value: string }>>;
	readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

export interface Input {
	readonly description: string;
	readonly required?: boolean;
	readonly default?: string;
}

/** A step of an action or a workflow. */
export interface Step {
	readonly id?: string;
	readonly name?: string;
	readonly if?: string;
	readonly uses?: string;
	readonly with?: Readonly<Record<string, unknown>>;
	readonly run?: string;
	readonly shell?: string;
	readonly env?: Readonly<Record<string, unknown>>;
}

/** GitHub's view of a step that was run, with `with` and `env` filled in. */
export interface Ran {
	readonly name: string;
	readonly uses: string | null;
	readonly with: Readonly<Record<string, string>>;
	readonly outcome: "success" | "failure" | "skipped";
	readonly outputs: Readonly<Record<string, string>>;
}

export interface Done {
	readonly outcome: "success" | "failure";
	readonly outputs: Readonly<Record<string, string>>;
	readonly steps: readonly Ran[];
	/** The output of all steps, which GitHub searches for commands. */
	readonly log: string;
	readonly summary: string;
	/** $RUNNER_TEMP. */
	readonly temp: string;
}

export const ACTIONS = path.join(packageFolder, ".github", "actions");

export function readAction(folder: string): Action {
	return parse(readFileSync(path.join(folder, "action.yml"), "utf8"));
}

/**
 * Runs a composite action as GitHub's runner does: `run` steps in bash with their files and variables. `uses` steps do not run: their
 * inputs are recorded, and `uses` gives their outputs.
 */
export async function runAction(options: {
	/** Folder of its action.yml. */
	readonly folder: string;
	readonly with: Readonly<Record<string, string>>;
	/** The event, of `github.event`. */
	readonly event?: Readonly<Record<string, unknown>>;
	/** $GITHUB_WORKSPACE. */
	readonly workspace: string;
	/** $RUNNER_TEMP, shared by all steps of a job; by default a new folder. */
	readonly temp?: string;
	readonly env?: Readonly<Record<string, string>>;
	/** Outputs of foreign steps, by their id. */
	readonly uses?: Readonly<Record<string, Readonly<Record<string, string>>>>;
	/** Called with each step's process, to signal it. */
	onStep?(name: string, pid: number, log: () => string): void;
}): Promise<Done> {
	const action = readAction(options.folder);
	const temp = options.temp ?? testFolder();
	const inputs = given(action, options.with);
	const steps: Record<string, { outputs: Record<string, string> }> = {};
	const ran: Ran[] = [];
	let status: "success" | "failure" = "success";
	let log = "";
	const values = {
		inputs,
		steps,
		github: { event: options.event ?? {}, token: TOKEN },
		runner: { temp, os: "Linux", arch: "X64" },
	};
	// GitHub's own files are elsewhere.
	const own = testFolder();
	const summary = path.join(own, "summary.md");
	writeFileSync(summary, "");
	for (const [i, step] of action.runs.steps.entries()) {
		const name = step.name ?? step.uses ?? `step ${i + 1}`;
		const fill = (map: Step["with"]) =>
			Object.fromEntries(
				Object.entries(map ?? {}).map(([key, value]) => [key, filled(String(value), values)]),
			);
		const uses = step.uses ?? null;
		if (!holds(step.if, status, values)) {
			ran.push({ name, uses, with: {}, outcome: "skipped", outputs: {} });
			continue;
		}
		let outputs: Record<string, string> = {};
		let outcome: "success" | "failure" = "success";
		if (step.run === undefined) outputs = { ...options.uses?.[step.id ?? ""] };
		else {
			const file = path.join(own, `output-${i}`);
			writeFileSync(file, "");
			const { code, text } = await bash(
				step.run,
				{
					...BASE,
					...options.env,
					CI: "true",
					GITHUB_ACTIONS: "true",
					GITHUB_ACTION_PATH: options.folder,
					GITHUB_WORKSPACE: options.workspace,
					GITHUB_OUTPUT: file,
					GITHUB_STEP_SUMMARY: summary,
					RUNNER_TEMP: temp,
					...fill(step.env),
				},
				options.workspace,
				(pid, said) => options.onStep?.(name, pid, said),
			);
			log += text;
			outputs = outputsOf(readFileSync(file, "utf8"));
			if (code !== 0) outcome = "failure";
		}
		if (outcome === "failure") status = "failure";
		if (step.id) steps[step.id] = { outputs };
		ran.push({ name, uses, with: fill(step.with), outcome, outputs });
	}
	const outputs = Object.fromEntries(
		Object.entries(action.outputs ?? {}).map(([name, { value }]) => [name, filled(value, values)]),
	);
	return {
		outcome: status,
		outputs,
		steps: ran,
		log,
		summary: readFileSync(summary, "utf8"),
		temp,
	};
}

/** The outcome of a job's earlier steps. */
export type Status = "success" | "failure" | "cancelled";

/** Replaces each `${{ }}` of a text as GitHub does. `values` has its contexts, by name; any other context is an error. */
export function filled(text: string, values: object): string {
	return text.replaceAll(/\$\{\{(.*?)\}\}/gs, (_, expression: string) =>
		evaluated(expression, values).coerceString(),
	);
}

/** Whether an `if` lets a job or a step run: without a status function it requires success, too. */
export function holds(condition: string | undefined, status: Status, values: object): boolean {
	const text = (condition ?? "").trim().replace(/^\$\{\{(.*)\}\}$/s, "$1");
	const asked = STATUS_WORDS.some((word) => text.includes(`${word}()`));
	if (!asked && status !== "success") return false;
	return text === "" || evaluated(`!!(${text})`, values, status).number() === 1;
}

/** Files below a folder with this ending, as absolute paths. */
export function filesBelow(folder: string, ...ends: string[]): string[] {
	if (!existsSync(folder)) return [];
	return readdirSync(folder, { recursive: true, encoding: "utf8" })
		.filter((file) => ends.some((end) => file.endsWith(end)))
		.map((file) => path.join(folder, file))
		.sort();
}

export { testFolder as temporaryFolder };

/** Writes a file and the folders it needs. */
export function write(file: string, text: string): void {
	mkdirSync(path.dirname(file), { recursive: true });
	writeFileSync(file, text);
}

// --- internal ---

const TOKEN = "the job's token";

const BASE = Object.fromEntries(
	["PATH", "HOME", "TMPDIR", "MQBENCH_CACHE_DIR", "XDG_CACHE_HOME", "GOPROXY", "GOFLAGS"]
		.map((name) => [name, process.env[name]])
		.filter(([, value]) => value !== undefined),
) as Record<string, string>;

/** GitHub warns of an undeclared input, and uses the default of a missing one. */
function given(action: Action, values: Readonly<Record<string, string>>): Record<string, string> {
	for (const name of Object.keys(values))
		if (!(name in action.inputs)) throw new Error(`there is no input ${name}`);
	return Object.fromEntries(
		Object.entries(action.inputs).map(([name, input]) => [
			name,
			values[name] ?? filled(input.default ?? "", { github: { token: TOKEN } }),
		]),
	);
}

/** Runs a step's script as `shell: bash` does. */
async function bash(
	script: string,
	env: Readonly<Record<string, string>>,
	cwd: string,
	started: (pid: number, log: () => string) => void,
): Promise<{ code: number | null; text: string }> {
	const words = ["--noprofile", "--norc", "-eo", "pipefail", "-c", script];
	const child = spawn("bash", words, { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
	let text = "";
	for (const stream of [child.stdout, child.stderr])
		stream.setEncoding("utf8").on("data", (piece: string) => {
			text += piece;
		});
	started(child.pid ?? -1, () => text);
	const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
	return { code, text };
}

/** `name=value` and `name<<END` ... `END`; the last of a name counts. */
function outputsOf(text: string): Record<string, string> {
	const outputs: Record<string, string> = {};
	const lines = text.split("\n");
	for (let i = 0; i < lines.length; i++) {
		const line = lines[i] ?? "";
		if (line === "") continue;
		const long = /^([^=<]+)<<(.+)$/.exec(line);
		if (long) {
			const end = lines.indexOf(long[2] ?? "", i + 1);
			if (end < 0) throw new Error(`no end of ${line}`);
			outputs[long[1] ?? ""] = lines.slice(i + 1, end).join("\n");
			i = end;
			continue;
		}
		const at = line.indexOf("=");
		if (at < 1) throw new Error(`GitHub refuses this output: ${line}`);
		outputs[line.slice(0, at)] = line.slice(at + 1);
	}
	return outputs;
}

const STATUS_WORDS = ["success", "failure", "cancelled", "always"];

function evaluated(expression: string, values: object, status: Status = "success") {
	const functions = new Map(
		STATUS_WORDS.map((name) => {
			const call = () => new data.BooleanData(name === "always" || name.startsWith(status));
			return [name, { name, minArgs: 0, maxArgs: 0, call }];
		}),
	);
	const tree = new Parser(new Lexer(expression).lex().tokens, Object.keys(values), [
		...Object.values(wellKnownFunctions),
		...functions.values(),
	]).parse();
	const contexts = JSON.parse(JSON.stringify(values), data.reviver);
	return new Evaluator(tree, contexts, functions).evaluate();
}
