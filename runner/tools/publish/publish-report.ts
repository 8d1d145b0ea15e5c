/**
 * Makes a published report (reports/published/<name>): runs a scenario by the ordinary command line, judges its folder, and copies its
 * files. A run that does not meet the requirements is refused, with all reasons (reports/README.md, "Publishing a report").
 *
 *   npm run publish-report scenarios/commit-log-latency.yaml
 *   npm run publish-report scenarios/quickstart.yaml -- --name laptop --set workload.duration=60s
 *   npm run publish-report -- --check reports/<run-id>       judges an existing folder; copies nothing
 *   npm run publish-report -- --render nats-stall            makes a published report again from its archive
 */

import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { readScenario } from "../../../infra/read-scenario.ts";
import { buildResult } from "../../compare/build.ts";
import { EXIT, MqbenchError } from "../../errors.ts";
import { packageFolder } from "../../package.ts";
import { sum } from "../../stats/sum.ts";
import { percent } from "../../text/percent.ts";
import { formatBytes, plural } from "../../units.ts";
import { copyPublished, renderPublished } from "./copy.ts";
import { publishable, REPEATS, unranked } from "./publishable.ts";

const PUBLISHED = path.join("reports", "published");

/** Before it measures: other programs may take this much of the cores at most. */
const MOST_BUSY = 0.1;

const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		/** Folder of a run: judge whether it may be published, and copy nothing. */
		check: { type: "string" },
		/** A published report whose pages this version should make again. */
		render: { type: "string" },
		/** Below reports/published/; by default the name of the scenario's file. */
		name: { type: "string" },
		/** As of mqbench run. */
		set: { type: "string", multiple: true, default: [] },
		/** Where the runs are kept; else reports/publish-<name>-<time>. */
		out: { type: "string" },
	},
});
const [scenario, ...more] = positionals;
try {
	process.exitCode =
		values.check !== undefined
			? verdict(values.check, publishable(buildResult(values.check)))
			: values.render !== undefined
				? render(values.render)
				: scenario === undefined || more.length > 0
					? refuse(
							[
								"Give one scenario: npm run publish-report scenarios/<name>.yaml, or a folder: npm run publish-report -- --check reports/<run-id>",
							],
							EXIT.usage,
						)
					: await publish(scenario);
} catch (error) {
	if (!(error instanceof MqbenchError)) throw error;
	process.stderr.write(`${error.message}\n`);
	process.exitCode = error.exit;
}

// --- internal ---

function render(name: string): number {
	const target = path.join(PUBLISHED, path.basename(name));
	const { runs } = renderPublished(path.join(packageFolder, target));
	process.stdout.write(`Made again from its ${plural(runs.length, "run")}: ${target}\n`);
	return EXIT.pass;
}

async function publish(file: string): Promise<number> {
	const name = values.name ?? path.basename(file).replace(/\.ya?ml$/, "");
	if (!/^[\w-]+$/.test(name))
		return refuse([`${name} is no name of a folder: letters, digits, - and _`], EXIT.usage);
	const target = path.join(PUBLISHED, name);
	if (existsSync(path.join(packageFolder, target)))
		return refuse(
			[`${target} is there already: remove it first, or give another --name`],
			EXIT.usage,
		);
	const commit = commitOf();
	const share = await busyShare();
	const first = [
		...(commit === null
			? ["the sources are not those of a commit: commit first, so that the report can name it"]
			: []),
		...(share > MOST_BUSY
			? [
					`the machine is not idle (its cores work for ${percent(share)} of the time): stop other programs, or wait until they end`,
				]
			: []),
	];
	// Report certain problems now, not after an hour.
	if (first.length > 0) return refuse(first, EXIT.environment);
	const stamp = new Date().toISOString().replaceAll(/[-:]|\..*/g, "");
	const folder = values.out ?? path.join("reports", `publish-${name}-${stamp}`);
	const code = await run(file, folder);
	// The run reports things left in a cloud; nothing that comes after may hide it.
	if (code === EXIT.leftBehind) return code;
	if (!existsSync(path.join(folder, "result.json")))
		return refuse(["the command left no result: see what it said"], EXIT.environment);
	const result = buildResult(folder);
	const reasons = publishable(result);
	const now = commitOf();
	if (now !== commit)
		reasons.push(
			`the sources were changed while it was measured (${commit}, now ${now ?? "none"}): measure again`,
		);
	if (reasons.length > 0) return verdict(folder, reasons);
	const copied = copyPublished(folder, path.join(packageFolder, target), commit);
	if (copied.refused.length > 0) return verdict(folder, copied.refused);
	const marked = unranked(result);
	if (marked.length > 0)
		process.stdout.write(
			`Published with a mark, and without ranking: machine or load generator was at its limit: ${marked.join("; ")}\n`,
		);
	const size = formatBytes(copied.bytes);
	process.stdout.write(
		`Published: ${target} (${size}). Look at it, write its answer into README.md beside it, add it to the table in reports/README.md, and commit all.\n`,
	);
	return EXIT.pass;
}

/** The ordinary command line, with three repeats where the scenario asks for fewer. Its verdict is in its report. */
async function run(file: string, folder: string): Promise<number | null> {
	const { set } = values;
	const stop = new AbortController().signal;
	const world = { cwd: process.cwd(), env: process.env, stop, ask: null };
	const { scenario: read } = await readScenario(file, { set }, world);
	const all = [...set, ...(read.repeat < REPEATS ? [`repeat=${REPEATS}`] : [])];
	const child = spawn(
		process.execPath,
		[
			path.join(packageFolder, "dist", "runner", "cli.js"),
			"run",
			path.relative(process.cwd(), file),
			"--out",
			folder,
			...all.flatMap((one) => ["--set", one]),
		],
		{ stdio: "inherit" },
	);
	// A terminal sends them to the run too, which takes down its machines; this waits for it.
	const wait = () => {};
	for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, wait);
	try {
		return await new Promise((resolve, reject) => {
			child.once("error", reject);
			child.once("close", resolve);
		});
	} finally {
		for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, wait);
	}
}

/** The share of three seconds in which the cores worked. */
async function busyShare(): Promise<number> {
	const ticks = () => {
		const times = os.cpus().map((cpu) => cpu.times);
		const idle = sum(times.map((one) => one.idle));
		return { idle, all: sum(times.flatMap((one) => Object.values(one))) };
	};
	const before = ticks();
	await sleep(3000);
	const after = ticks();
	return 1 - (after.idle - before.idle) / (after.all - before.all);
}

/** null if the sources do not match a commit. */
function commitOf(): string | null {
	const git = (...args: string[]) => {
		const done = spawnSync("git", args, { cwd: packageFolder, encoding: "utf8" });
		return done.status === 0 ? done.stdout.trim() : null;
	};
	return git("status", "--porcelain") === "" ? git("rev-parse", "HEAD") : null;
}

function verdict(folder: string, reasons: readonly string[]): number {
	if (reasons.length > 0)
		return refuse([`Not published: ${folder}`, ...reasons.map((r) => `- ${r}`)], EXIT.invalid);
	process.stdout.write(`${folder} can be published.\n`);
	return EXIT.pass;
}

function refuse(lines: readonly string[], code: number): number {
	process.stderr.write(`${lines.join("\n")}\n`);
	return code;
}
