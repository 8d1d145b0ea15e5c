// Runs mqbench for the action, and writes the outputs; its own exit code is 0, and the step after the uploads is the gate.
import { spawn } from "node:child_process";
import {
	appendFileSync,
	copyFileSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	writeFileSync,
} from "node:fs";
import { constants } from "node:os";
import path from "node:path";

const env = process.env;
const work = mkdtempSync(path.join(env.RUNNER_TEMP, "mqbench-"));
const folder = path.join(work, "report");
const result = path.join(folder, "result.json");
let complained = false;
// Said first: a job that is cancelled uploads what there is.
output({ report: folder, verdict: "error", "exit-code": 1 });
const code = await measure();
if (code !== 0 && !complained && !existsSync(result))
	complain(`There is no result, and mqbench's exit code is ${code}: the log says why.`);
// The reporter has written some of them too; they are the same, and here they are written whatever happened.
output({
	report: existsSync(folder) ? folder : "",
	"exit-code": code,
	verdict: verdict(code),
	comment: comment(),
	...kept(),
});

// --- internal ---

function output(values) {
	for (const [name, value] of Object.entries(values))
		appendFileSync(env.GITHUB_OUTPUT, `${name}=${value}\n`);
}

/** mqbench's exit code; 128 and the signal's number for one that was killed. */
async function measure() {
	for (const [name, value] of [
		["fail", env.INPUT_FAIL],
		["confirm", env.INPUT_CONFIRM],
		["summary", env.INPUT_SUMMARY],
	]) {
		// Expressions of GitHub do not look at the case either.
		if (!/^(true|false)$/i.test(value ?? ""))
			return refused(`${name} is true or false; got ${JSON.stringify(value ?? "")}.`);
	}
	const args = words(env.INPUT_ARGS ?? "");
	if (args === null) return refused("args has a quote that is opened and not closed.");
	if (args.some((arg) => /^--(out|resume)(=|$)/.test(arg)))
		return refused(
			"args holds --out or --resume: the run's folder is the action's own, see its output `report`.",
		);
	const { GITHUB_STEP_SUMMARY, ...rest } = env;
	const child = spawn(
		process.execPath,
		[
			env.MQBENCH_CLI,
			"run",
			env.INPUT_SCENARIO,
			"--out",
			folder,
			...option("--reporter", env.INPUT_REPORTER),
			...option("--baseline", env.INPUT_BASELINE),
			...option("--on-inconclusive", env.INPUT_ON_INCONCLUSIVE),
			...(isTrue(env.INPUT_CONFIRM) ? ["--confirm"] : []),
			...args,
		],
		{
			stdio: ["ignore", "inherit", "inherit"],
			env: {
				...(isTrue(env.INPUT_SUMMARY) ? env : rest),
				// The job's own unless it names one, so that the step that takes down all rigs finds this job's, and nobody else's. As there,
				// an empty name is none.
				MQBENCH_STATE_DIR: env.MQBENCH_STATE_DIR || path.join(env.RUNNER_TEMP, "mqbench-state"),
			},
		},
	);
	// GitHub gives 7.5 s after SIGINT and 2.5 s after SIGTERM: enough to stop brokers, if it begins at once.
	for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
	return await new Promise((resolve) => {
		child.once("error", (error) => resolve(refused(error.message)));
		child.once("close", (status, signal) =>
			resolve(status ?? 128 + (constants.signals[signal] ?? 0)),
		);
	});
}

/** Exit code 2: usage. */
function refused(why) {
	complain(why);
	return 2;
}

function complain(why) {
	complained = true;
	process.stdout.write(`::error title=mqbench::${why}\n`);
}

function isTrue(value) {
	return value.toLowerCase() === "true";
}

function option(name, value) {
	return value ? [name, value] : [];
}

/** Splits as a shell does, by blanks and quotes, and expands nothing; null: a quote is not closed. */
function words(text) {
	const all = [];
	let word = null;
	let quote = "";
	for (let i = 0; i < text.length; i++) {
		const char = text[i];
		if (quote === "" && /\s/.test(char)) {
			if (word !== null) all.push(word);
			word = null;
		} else if (quote === "" && (char === "'" || char === '"')) {
			quote = char;
			word ??= "";
		} else if (char === quote) quote = "";
		else if (char === "\\" && quote !== "'" && i + 1 < text.length) word = (word ?? "") + text[++i];
		else word = (word ?? "") + char;
	}
	if (word !== null) all.push(word);
	return quote === "" ? all : null;
}

/** The verdict of result.json; without one, what the exit code says. */
function verdict(code) {
	if (existsSync(result)) return JSON.parse(readFileSync(result, "utf8")).verdict;
	return code === 130 || code === 143 ? "interrupted" : "error";
}

/** Folder with what the second workflow needs, of a pull request; "" for other events, and without a report. */
function comment() {
	const source = path.join(folder, "comment.md");
	if (!env.PULL_REQUEST || !existsSync(source)) return "";
	const small = path.join(work, "comment");
	mkdirSync(small);
	copyFileSync(source, path.join(small, "comment.md"));
	writeFileSync(path.join(small, "pull-request.txt"), env.PULL_REQUEST);
	return small;
}

/** What there is to be cached: saving a folder that is not there is a warning in every job. */
function kept() {
	const filled = (cache) => existsSync(cache) && readdirSync(cache).length > 0;
	return { built: filled(env.MQBENCH_BIN), fetched: filled(env.MQBENCH_JARS) };
}
