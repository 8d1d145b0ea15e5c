import { execFileSync } from "node:child_process";
import { packageFolder } from "../../package.ts";
import type { Made } from "./make-packages.ts";

/** Clones the commit here into `source`, gives it the version, and makes the packages in `out`; `only` limits the platforms. */
export function makeInClone(
	version: string,
	{
		source,
		out,
		only,
	}: {
		readonly source: string;
		readonly out: string;
		readonly only: readonly string[];
	},
): Made[] {
	const run = (command: string, args: readonly string[], cwd: string) =>
		execFileSync(command, args, {
			cwd,
			encoding: "utf8",
			maxBuffer: 1 << 26,
			stdio: ["ignore", "pipe", "inherit"],
		});
	run("git", ["clone", "--quiet", packageFolder, source], packageFolder);
	run("npm", ["version", "--no-git-tag-version", "--allow-same-version", version], source);
	run("npm", ["ci", "--silent"], source);
	const script = "dist/runner/tools/release/make-packages.js";
	return run(process.execPath, [script, out, ...only], source)
		.trim()
		.split("\n")
		.map((line): Made => JSON.parse(line));
}
