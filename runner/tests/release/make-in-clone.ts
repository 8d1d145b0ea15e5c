import { execFileSync } from "node:child_process";
import path from "node:path";
import { packageFolder } from "../../package.ts";
import type { Made } from "./make-packages.ts";

/** Clones what is committed here into `source`, gives it the version, and makes the packages in `out`; `only`: of these platforms, else of all. */
export function makeInClone(
	version: string,
	{
		source,
		out,
		only,
		env = process.env,
	}: {
		readonly source: string;
		readonly out: string;
		readonly only: readonly string[];
		/** Of the build; left out: this one. */
		readonly env?: NodeJS.ProcessEnv;
	},
): Made[] {
	const run = (command: string, args: readonly string[], cwd: string) =>
		execFileSync(command, args, {
			...{ cwd, env, encoding: "utf8", maxBuffer: 1 << 26 },
			stdio: ["ignore", "pipe", "inherit"],
		});
	run("git", ["clone", "--quiet", packageFolder, source], packageFolder);
	run(
		"npm",
		["version", "--no-git-tag-version", "--allow-same-version", version],
		source,
	);
	run("npm", ["ci", "--silent"], source);
	const script = path.join(
		source,
		"dist/runner/tests/release/make-packages.js",
	);
	return run(process.execPath, [script, out, ...only], source)
		.trim()
		.split("\n")
		.map((line): Made => JSON.parse(line));
}
