import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import { realBinaries } from "../../../infra/programs/real.fake.ts";
import { packageFolder } from "../../package.ts";

/** Variables that a k6 of `mqbench build` needs when it is the tests' own, which has nothing embedded. */
const RUNNER = {
	K6_AUTO_EXTENSION_RESOLUTION: "false",
	MQBENCH_RUNNER: path.join(packageFolder, "dist/inside-k6.js"),
};

/**
 * Runs k6 in a folder, in a separate session as mqbench does: Linux schedules sessions as groups, and a k6 in the broker's session gets its
 * messages back a fifth later.
 */
export async function k6At(
	cwd: string,
	args: readonly string[],
	given: Readonly<Record<string, string>>,
): Promise<{ code: number; out: string }> {
	const { k6 } = await realBinaries();
	const env = { PATH: process.env.PATH, HOME: cwd, ...RUNNER, ...given };
	return new Promise((resolve) => {
		execFile(
			"setsid",
			["--wait", k6, ...args],
			{ cwd, env, timeout: 120_000, maxBuffer: 1 << 26 },
			(error, out, err) => resolve({ code: Number(error?.code ?? 0), out: out + err }),
		);
	});
}

/** The one thing in a folder. */
export function only(folder: string): string {
	const names = readdirSync(folder);
	expect(names).toHaveLength(1);
	return path.join(folder, names[0] ?? "");
}

/** The samples written by k6's JSON output. */
export function samplesOf(
	file: string,
): { metric: string; data: { value: number; tags: Readonly<Record<string, string>> } }[] {
	return readFileSync(file, "utf8")
		.split("\n")
		.filter((line) => line.includes('"Point"'))
		.map((line) => JSON.parse(line));
}
