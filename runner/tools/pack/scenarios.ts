/**
 * Runs the scenarios that come with mqbench one after the other, each by the command line as a user would, and prints a table of all runs.
 * Reports are kept below --out. Exit code: the scenarios' worst.
 *
 *   npm run scenarios -- --quick                          all of them, shortened: some 15 minutes
 *   npm run scenarios -- --quick --only what-fsync-costs
 *   npm run scenarios -- --only 'message-queue-latency/redis/1KiB*'
 */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { readScenario } from "../../../infra/read-scenario.ts";
import { EXIT, MqbenchError } from "../../errors.ts";
import { glob } from "../../model/glob.ts";
import type { Result } from "../../model/result.ts";
import { packageFolder } from "../../package.ts";
import { expand } from "../../plan/expand.ts";
import { readResult } from "../../result/result-files.ts";
import { packFiles, packTable } from "./pack.ts";

const { values } = parseArgs({
	options: {
		/** Shorten every run, to check that it works. */
		quick: { type: "boolean", default: false },
		/** A glob over scenario/system/case; missing parts match all. */
		only: { type: "string", default: "*" },
		out: { type: "string" },
	},
});
const stamp = new Date().toISOString().replaceAll(/[-:]|\..*/g, "");
const out = path.resolve(values.out ?? path.join("reports", `pack-${stamp}`));
const [name = "*", system = "*", ...rest] = values.only.split("/");
const names = glob(name);
const only = `${system}/${rest.length === 0 ? "*" : rest.join("/")}`;

const codes: number[] = [];
const results: Result[] = [];
for (const file of packFiles()) {
	const scenario = path.basename(file, ".yaml");
	if (!names.test(scenario)) continue;
	const why = await leftOut(file);
	if (why !== null) {
		process.stderr.write(`--- ${scenario}: left out, ${why}\n`);
		continue;
	}
	process.stderr.write(`--- ${scenario}\n`);
	const folder = path.join(out, scenario);
	codes.push(await run(file, folder));
	if (existsSync(path.join(folder, "result.json"))) results.push(readResult(folder));
}
if (codes.length === 0) process.stderr.write(`--only '${values.only}': nothing was run\n`);
else process.stdout.write(`\n${packTable(results)}\n${out}\n`);
process.exitCode = codes.length === 0 ? EXIT.usage : worst(codes);

// --- internal ---

/** Why a scenario is not run: something that it needs is missing here, or --only leaves nothing of it. */
async function leftOut(file: string): Promise<string | null> {
	try {
		const stop = new AbortController().signal;
		const world = { cwd: process.cwd(), env: process.env, stop, ask: null };
		const { scenario } = await readScenario(file, {}, world);
		expand(scenario, { only });
		return null;
	} catch (error) {
		if (!(error instanceof MqbenchError)) throw error;
		return error.message;
	}
}

/** The command line, with its own progress; its report goes into files. Returns the exit code. */
function run(file: string, folder: string): Promise<number> {
	const child = spawn(
		process.execPath,
		[
			path.join(packageFolder, "dist", "runner", "cli.js"),
			"run",
			file,
			"--only",
			only,
			"--out",
			folder,
			...(values.quick ? ["--quick"] : []),
		],
		{ stdio: ["ignore", "ignore", "inherit"] },
	);
	return new Promise((resolve, reject) => {
		child.once("error", reject);
		child.once("close", (code) => resolve(code ?? EXIT.interrupted));
	});
}

/** The worst of several exit codes: 5 > 1 > 130, 143 > 3 > 4 > 99 > 6 > 0; a refused scenario is as bad as a bug of ours. */
function worst(codes: readonly number[]): number {
	const order = [5, 1, 2, 130, 143, 3, 4, 99, 6, 0];
	return order.find((code) => codes.includes(code)) ?? EXIT.internal;
}
