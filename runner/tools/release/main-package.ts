import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Platform } from "../../../infra/programs/programs.ts";
import { packageFolder } from "../../package.ts";

/**
 * Makes mqbench's own package as .tgz in `out`, with the version, and the packages of platforms as optional ones, which a clone does not
 * have. Returns the file's path.
 */
export function makeMainPackage(
	version: string,
	out: string,
	platforms: readonly Platform[],
): string {
	const staging = path.join(out, "mqbench");
	rmSync(staging, { recursive: true, force: true });
	mkdirSync(staging, { recursive: true });
	for (const file of filesOfPackage())
		cpSync(path.join(packageFolder, file), path.join(staging, file));
	const own = JSON.parse(readFileSync(path.join(packageFolder, "package.json"), "utf8"));
	// Its users build nothing.
	const { scripts: _, devDependencies: __, ...rest } = own;
	const whole = {
		...rest,
		version,
		optionalDependencies: Object.fromEntries(
			platforms.map(({ packageName }) => [packageName, version]),
		),
	};
	writeFileSync(path.join(staging, "package.json"), `${JSON.stringify(whole, null, "\t")}\n`);
	return pack(staging, out);
}

/** Packs a folder as npm does. */
export function pack(folder: string, out: string): string {
	const text = execFileSync(
		"npm",
		["pack", "--json", "--ignore-scripts", "--pack-destination", out],
		{ cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
	);
	const [{ filename }] = JSON.parse(text) as [{ filename: string }];
	return path.join(out, filename);
}

// --- internal ---

function filesOfPackage(): string[] {
	const text = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
		cwd: packageFolder,
		encoding: "utf8",
		stdio: ["ignore", "pipe", "ignore"],
	});
	const [{ files }] = JSON.parse(text) as [{ files: { path: string }[] }];
	return files.map((file) => file.path);
}
