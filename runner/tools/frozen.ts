/**
 * Compares the files and output of two commits of mqbench, for the same inputs: every stored run, a result of 100 runs, every scenario that
 * comes with mqbench, and every mistake in a scenario. Only the command line is used, so the comparison outlives any change of shape
 * inside.
 *
 *   npm run frozen                       the last commit with the working tree
 *   npm run frozen -- --base abc123      a commit with the working tree
 *   npm run frozen -- --only report.html the files whose path contains this
 *
 * Prints a unified diff; exit code 1 if it is not empty. The output of a commit is kept below the system's temporary folder, so the second
 * comparison with it takes half the time.
 */
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
	cpSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";

const { values } = parseArgs({
	options: { base: { type: "string", default: "HEAD" }, only: { type: "string", default: "" } },
});
const here = git("rev-parse", "--show-toplevel");
const base = git("rev-parse", `${values.base}^{commit}`);
const kept = path.join(tmpdir(), "mqbench-frozen");
// The kept output was written by this program: another version of it keeps more, or less.
const version = createHash("sha256")
	.update(readFileSync(path.join(here, "runner/tools/frozen.ts")))
	.digest("hex")
	.slice(0, 8);
const before = path.join(kept, `${base}-${version}`);
// Comparisons may run side by side, in several clones too.
const own = String(process.pid);
const after = path.join(kept, `after-${own}`);
mkdirSync(kept, { recursive: true });
process.on("exit", () => rmSync(after, { recursive: true, force: true }));

if (!existsSync(before)) {
	const tree = path.join(kept, `tree-${own}`);
	git("worktree", "add", "--detach", tree, base);
	try {
		install(tree);
		await freeze(tree, tree, `${before}-${own}`);
		keep(`${before}-${own}`, before);
	} finally {
		git("worktree", "remove", "--force", tree);
	}
}
// The inputs are the old commit's for both, because the program is compared.
const inputs = path.join(kept, `inputs-${base}`);
if (!existsSync(inputs)) {
	const part = `${inputs}-${own}`;
	mkdirSync(part);
	execFileSync("sh", ["-c", 'git -C "$1" archive "$2" | tar -x -C "$3"', "sh", here, base, part]);
	keep(part, inputs);
}
await freeze(here, inputs, after);
process.exitCode = differences();

// --- internal ---

/** Gives a finished folder its name, unless another comparison did so first. */
function keep(part: string, name: string): void {
	if (existsSync(name)) rmSync(part, { recursive: true, force: true });
	else renameSync(part, name);
}

/** Everything that the program of `tree` writes for the inputs of `from`, as text files in `into`. */
async function freeze(tree: string, from: string, into: string): Promise<void> {
	rmSync(into, { recursive: true, force: true });
	mkdirSync(into, { recursive: true });
	const cli = path.join(tree, "dist", "runner", "cli.js");
	const folders = storedRuns(from, path.join(into, "reports"));
	const jobs = [
		...folders.map((folder) => () => reportsOf(cli, folder)),
		...scenariosOf(from, into).map((file) => () => plansOf(cli, file)),
	];
	await Promise.all([work(jobs), work(jobs)]);
	await across(cli, into, folders);
	rmSync(path.join(into, "cache"), { recursive: true, force: true });
}

/** Takes jobs from a shared list. */
async function work(jobs: (() => Promise<void>)[]): Promise<void> {
	for (let job = jobs.shift(); job; job = jobs.shift()) await job();
}

/** Copies of the fixtures, the published reports, and a folder of 100 runs. Returns their paths. */
function storedRuns(from: string, into: string): string[] {
	const folders: string[] = [];
	for (const source of [fixturesOf(from), "reports/published"])
		for (const name of readdirSync(path.join(from, source))) {
			const folder = path.join(from, source, name);
			if (!statSync(folder).isDirectory()) continue;
			const to = path.join(into, name);
			copyRaw(folder, to);
			folders.push(to);
		}
	const hundred = path.join(into, "hundred");
	copyRaw(path.join(from, "reports/published/message-queue-latency"), hundred);
	const runs = path.join(hundred, "runs");
	// Repeats 4 and 5 are the first two once more.
	const all = readdirSync(runs).sort();
	for (let index = all.length + 1; index <= 100; index++) {
		const name = all[index - all.length - 1] as string;
		const copy = path.join(runs, `${String(index).padStart(3, "0")}-${name.slice(3)}`);
		cpSync(path.join(runs, name), copy, { recursive: true });
		const file = path.join(copy, "plan.json");
		const plan = JSON.parse(readFileSync(file, "utf8"));
		writeFileSync(file, JSON.stringify({ ...plan, index, repeat: plan.repeat + 3 }));
	}
	return [...folders, hundred];
}

/** The fixtures of a commit: before rooms in the order of the data they were with the reports. */
function fixturesOf(tree: string): string {
	const now = "runner/tests/fixtures";
	return existsSync(path.join(tree, now)) ? now : "runner/report/fixtures";
}

/** A run folder without the files computed from it. */
function copyRaw(folder: string, to: string): void {
	const archive = path.join(folder, "runs.tar.gz");
	if (existsSync(archive)) {
		mkdirSync(to, { recursive: true });
		execFileSync("tar", ["-xzf", archive, "-C", to]);
		return;
	}
	cpSync(folder, to, { recursive: true });
	for (const name of ["golden", "result.json", "report.html", "report.md"])
		rmSync(path.join(to, name), { recursive: true, force: true });
	for (const run of readdirSync(path.join(to, "runs")))
		rmSync(path.join(to, "runs", run, "details.json"), { force: true });
}

async function reportsOf(cli: string, folder: string): Promise<void> {
	await say(cli, folder, "terminal", ["report", path.basename(folder)]);
	await say(cli, folder, "github", [
		"report",
		path.basename(folder),
		"--reporter",
		"github,markdown=-",
	]);
	for (const format of ["github-action-benchmark", "openmetrics"])
		await say(cli, folder, `export-${format}`, [
			"report",
			path.basename(folder),
			"--export",
			format,
		]);
	// With a hundred runs all charts would take minutes.
	const only = path.basename(folder) === "hundred" ? ["--only", "*percentiles"] : [];
	await say(cli, folder, "svg", ["report", path.basename(folder), "--svg", ...only]);
	readable(folder);
}

/** The output for several results together. */
async function across(cli: string, into: string, folders: readonly string[]): Promise<void> {
	const reports = path.join(into, "reports");
	await say(cli, reports, "index", ["report", "reports"]);
	for (const folder of folders) {
		const name = path.basename(folder);
		const html = path.join(name, "compare.html");
		const args = ["compare", "healthy", name];
		await say(cli, folder, "compare", args);
		await say(cli, folder, "compare-json", [...args, "--json"]);
		await say(cli, folder, "compare-markdown", [...args, "--markdown", "--html", html]);
	}
	for (const name of ["index.html", ...folders.map(compared)]) {
		const file = path.join(reports, name);
		if (existsSync(file)) readablePage(file);
	}
}

function compared(folder: string): string {
	return path.join(path.basename(folder), "compare.html");
}

/** All scenarios: mqbench's, the script goldens', and each mistake as a file. */
function scenariosOf(from: string, into: string): string[] {
	const folder = path.join(into, "scenarios");
	cpSync(path.join(from, "scenarios"), folder, { recursive: true });
	const golden = path.join(from, "runner/script/golden");
	for (const name of readdirSync(golden))
		cpSync(path.join(golden, name, "scenario.yaml"), path.join(folder, `script-${name}.yaml`));
	const mistakes = readFileSync(path.join(from, "runner/scenario/golden/mistakes.txt"), "utf8");
	const count = new Map<string, number>();
	for (const part of mistakes.split(/^=== /m).slice(1)) {
		const [name = "", ...text] = part.split("\n");
		const slug = name.replaceAll(/[^a-zA-Z0-9]+/g, "-").slice(0, 60);
		const nth = (count.get(slug) ?? 0) + 1;
		count.set(slug, nth);
		const [yaml = ""] = text.join("\n").split(/^---$/m);
		writeFileSync(path.join(folder, `mistake-${slug}-${nth}.yaml`), yaml);
	}
	return readdirSync(folder)
		.filter((name) => name.endsWith(".yaml"))
		.map((name) => path.join(folder, name));
}

async function plansOf(cli: string, file: string): Promise<void> {
	const name = path.basename(file);
	if (name.startsWith("mistake-")) return say(cli, file, "validate", ["validate", name]);
	await say(cli, file, "plan", ["plan", name]);
	await say(cli, file, "plan-json", ["plan", name, "--json"]);
	await say(cli, file, "compile", ["compile", name]);
	await say(cli, file, "plan.json", ["compile", name, "--plan"]);
}

/** Runs one command and keeps its whole output next to `target`, with its exit code. */
async function say(
	cli: string,
	target: string,
	name: string,
	args: readonly string[],
): Promise<void> {
	const file = statSync(target).isDirectory()
		? path.join(target, `printed-${name}.txt`)
		: `${target}.${name}.txt`;
	// Names are given relative to their folder, because the length of a path decides where lines are wrapped.
	const cwd = path.dirname(target);
	const { PATH, HOME } = process.env;
	const env = { PATH, HOME, NATS_URL: "nats://127.0.0.1:4222" };
	const printed = await new Promise<string>((resolve) =>
		execFile(
			process.execPath,
			[cli, ...args],
			{ cwd, env, maxBuffer: 1 << 28 },
			(error, stdout, stderr) =>
				resolve(`${stdout}\n--- stderr\n${stderr}\n--- exit code ${error?.code ?? 0}\n`),
		),
	);
	writeFileSync(file, steady(printed, path.dirname(path.dirname(cli))));
}

/** Without the parts that differ each time: paths of the program and its inputs, and the number of a run. */
function steady(text: string, dist: string): string {
	return text
		.replaceAll(path.dirname(dist), "<mqbench>")
		.replaceAll(/\S*mqbench-frozen\/[^/\s"']+/g, "<frozen>")
		.replaceAll(/-\d{8}-\d{6}-[0-9a-f]{4}/g, "-<run>")
		.replaceAll(/("runNumber"|"seed"): ?\d+/g, "$1: <number>")
		.replaceAll(/\b\d+ ?ms to (read|render)/g, "<time> to $1");
}

/** Reports in a form that a diff can show: HTML as text, JSON one value per line. Raw files, which are inputs, are removed. */
function readable(folder: string): void {
	const page = path.join(folder, "report.html");
	if (existsSync(page)) readablePage(page);
	const runs = path.join(folder, "runs");
	for (const run of readdirSync(runs))
		for (const name of readdirSync(path.join(runs, run)))
			if (/\.(hlog|jsonl|log|js)$/.test(name) && name !== "details.json")
				rmSync(path.join(runs, run, name));
}

/**
 * A page as text: each element's text and visible attributes on a line, also from its compressed parts, and the words of its figures. Their
 * data go to a file next to it, a value a line.
 */
function readablePage(file: string): void {
	const data: unknown[] = [];
	const text = readFileSync(file, "utf8")
		.replaceAll(/<style[^>]*>.*?<\/style>/gs, "")
		.replaceAll(/<script([^>]*)>(.*?)<\/script>/gs, (_, attributes: string, body: string) =>
			scriptText(attributes, body, data),
		)
		.replaceAll(
			/<[a-z0-9]+\b[^>]*?\b(href|alt|title|aria-label|content)="([^"]*)"[^>]*>/g,
			"\n[$1=$2] ",
		)
		.replaceAll(/<[^>]+>/g, "\n")
		.replaceAll(/\n\s*\n+/g, "\n");
	writeFileSync(file, text);
	writeFileSync(`${file}.figures.json`, JSON.stringify(data, null, 1));
}

/** A script element's words: folded parts, and the texts of its figures. Programs have none. */
function scriptText(attributes: string, body: string, data: unknown[]): string {
	const packed = /data-packed="(\w+)"/.exec(attributes)?.[1];
	if (packed === "script" || (packed === undefined && !attributes.includes("json"))) return "";
	const json = JSON.parse(
		packed === undefined ? body : gunzipSync(Buffer.from(body, "base64")).toString(),
	);
	if (packed === "later") return Object.values(json).join("\n");
	const figures = [json].flat();
	data.push(...figures);
	return figures
		.map(
			({ id, title, facts, alt, description }) =>
				`\n[figure=${id}] ${title}\n${facts}\n${alt ?? description ?? ""}\n`,
		)
		.join("");
}

function install(tree: string): void {
	const lock = (folder: string) => readFileSync(path.join(folder, "package-lock.json"), "utf8");
	if (lock(tree) === lock(here)) {
		for (const part of ["node_modules", "infra/aws/node_modules"])
			symlinkSync(path.join(here, part), path.join(tree, part));
		execFileSync("npm", ["run", "build", "--silent"], { cwd: tree });
	} else execFileSync("npm", ["ci", "--silent"], { cwd: tree });
}

/** Prints the differences, and returns the exit code for them. */
function differences(): number {
	const folders = [before, after];
	const known = execFileSync("sh", ["-c", 'diff -rqN "$1" "$2" || true', "sh", ...folders], {
		maxBuffer: 1 << 28,
	}).toString();
	let code = 0;
	for (const line of known.split("\n")) {
		const [, one, two] = /^Files (.*) and (.*) differ$/.exec(line) ?? [];
		if (one === undefined || two === undefined) continue;
		const name = path.relative(before, one);
		if (!name.includes(values.only)) continue;
		code = 1;
		process.stdout.write(
			execFileSync(
				"sh",
				[
					"-c",
					'diff -uN --label "before: $3" --label "after: $3" "$1" "$2" || true',
					"sh",
					...[one, two, name],
				],
				{ maxBuffer: 1 << 28 },
			),
		);
	}
	process.stderr.write(code === 0 ? "frozen: no difference\n" : "frozen: see above\n");
	return code;
}

function git(...args: string[]): string {
	return execFileSync("git", args, {
		encoding: "utf8",
		stdio: ["ignore", "pipe", "ignore"],
	}).trim();
}
