import { execFileSync } from "node:child_process";
import path from "node:path";
import { packageFolder } from "../../package.ts";
import { type BareDebian, commandIn } from "./bare-debian.ts";
import type { Made } from "./make-packages.ts";

/** A Debian that compiles, and its whole environment. */
export interface Builder extends Pick<BareDebian, "root" | "enter"> {
	readonly env: Readonly<Record<string, string>>;
}

/** Clones what is committed here into `source`, gives it the version, and makes the packages in `out`; `only`: of these platforms, else of all. */
export function makeInClone(
	version: string,
	{
		source,
		out,
		only,
		within,
	}: {
		readonly source: string;
		readonly out: string;
		readonly only: readonly string[];
		/** A system in a folder, which has Go, compiles them; `source` and `out` lie in it. Left out: this one does. */
		readonly within?: Builder;
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
	const inside = (file: string) => (within ? `/${path.relative(within.root, file)}` : file);
	const script = "dist/runner/tools/release/make-packages.js";
	const make = [script, inside(out), ...only];
	const [program = "", ...args] = within
		? commandIn(within, inside(source), within.env, ["node", ...make])
		: [process.execPath, ...make];
	return run(program, args, source)
		.trim()
		.split("\n")
		.map((line): Made => JSON.parse(line))
		.map((made) => (within ? { ...made, file: path.join(within.root, made.file) } : made));
}
