/**
 * Makes mqbench's package and the platforms' packages, from the sources around it, whose package.json has the version of the release:
 *
 *   node dist/runner/tools/release/make-packages.js <folder> [linux-x64 ...]
 *
 * Release.ts calls it, in a clone. Prints a JSON line for each package: its name, file and seconds.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Platform } from "../../../infra/programs/programs.ts";
import { packageFolder, packageVersion } from "../../package.ts";
import { makeMainPackage, pack } from "./main-package.ts";
import { makePlatformPackage } from "./platform-package.ts";
import { PLATFORMS } from "./platforms.ts";

/** A package that is ready to be published. */
export interface Made {
	readonly name: string;
	/** The .tgz. */
	readonly file: string;
	readonly seconds: number;
}

const [out = "", ...only] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const parts = path.join(out, "parts");
execFileSync("go", ["build", "-o", parts, "."], {
	cwd: path.join(packageFolder, "runner/tools/release/parts"),
	stdio: ["ignore", "ignore", "inherit"],
	env: { ...process.env, GOFLAGS: "-mod=readonly" },
});
const stop = new AbortController();
process.once("SIGINT", () => stop.abort("SIGINT"));
const shortOf = ({ system, processor }: Platform) => `${system}-${processor}`;
const platforms = PLATFORMS.filter(
	(platform) => only.length === 0 || only.includes(shortOf(platform)),
);
for (const [i, platform] of platforms.entries()) {
	const { packageName: name } = platform;
	const short = shortOf(platform);
	process.stderr.write(`  ${short}, ${i + 1} of ${platforms.length}\n`);
	const began = performance.now();
	const folder = path.join(out, short);
	await makePlatformPackage(platform, {
		version: packageVersion,
		folder,
		parts,
		env: process.env,
		stop: stop.signal,
	});
	tell({ name, file: pack(folder, out), seconds: since(began) });
}
const began = performance.now();
const file = makeMainPackage(packageVersion, out, platforms);
tell({ name: "mqbench", file, seconds: since(began) });

// --- internal ---

function tell(made: Made): void {
	process.stdout.write(`${JSON.stringify(made)}\n`);
}

function since(began: number): number {
	return Math.round((performance.now() - began) / 100) / 10;
}
