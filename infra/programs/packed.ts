import { constants } from "node:fs";
import { access, chmod, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { z } from "zod";
import type { BuiltProgram } from "../../runner/brokers/server.ts";
import { reasonOf } from "../../runner/reason.ts";
import { sha256OfFile } from "../../runner/sha256.ts";
import { HERE, programIn } from "./programs.ts";

/** manifest.json of a platform package: the programs in its bin/, and their sources. */
export const Manifest = z.strictObject({
	schema: z.literal(1),
	mqbench: z.string(),
	/** In Go's words: "linux/amd64". */
	platform: z.string(),
	/** "go1.26.8" */
	go: z.string(),
	/** Keys of the builds (build.ts) that its programs replace: the sources are the same, and k6 has all drivers. */
	builds: z.array(z.string()),
	sha256: z.record(z.string(), z.string()),
	/** Go modules that are linked in, as go.sum has them. */
	modules: z.array(
		z.strictObject({
			path: z.string(),
			version: z.string(),
			sum: z.string(),
			/** As SPDX names them: "Apache-2.0". */
			licence: z.string(),
		}),
	),
});
export type Manifest = z.infer<typeof Manifest>;

/** A platform package's programs, or a sentence with the reason for passing it over. */
export type Packed =
	/** `name`: "@mqbench/linux-x64 0.2.0" */
	| { readonly folder: string; readonly go: string; readonly name: string }
	/** null if this mqbench offers none for the platform; a clone offers none at all. */
	| { readonly why: string | null };

/**
 * Looks for the package of a platform where Node would, from the folder `near`: it is used only if it was made from the same sources, and
 * its programs are unchanged.
 */
export async function findPacked(
	near: string,
	key: string,
	programs: readonly BuiltProgram[],
	platform = HERE,
): Promise<Packed> {
	const { packageName: name } = platform;
	let file: string;
	try {
		file = createRequire(path.join(near, "package.json")).resolve(`${name}/manifest.json`);
	} catch {
		return {
			why: (await offers(near, name))
				? `The package ${name}, which has it built, is not installed: it was left out (--omit=optional), or the lock file was written on another platform.`
				: null,
		};
	}
	const passed = (reason: string) => ({ why: `The package ${name} is not used: ${reason}.` });
	let manifest: Manifest;
	try {
		manifest = Manifest.parse(JSON.parse(await readFile(file, "utf8")));
	} catch {
		return passed("its manifest.json cannot be read");
	}
	const { mqbench, go, builds, sha256 } = manifest;
	const without = programs.find((program) => !(program.name in sha256));
	if (without) return passed(`${without.name} is not among its programs`);
	if (!builds.includes(key)) return passed(`it was made of other sources (mqbench ${mqbench})`);
	const folder = path.join(path.dirname(file), "bin");
	for (const program of programs) {
		const there = programIn(folder, program.name, platform);
		const found = await sha256OfFile(there).catch(() => null);
		if (found !== sha256[program.name])
			return passed(
				`${program.name} in it is ${found === null ? "missing" : "not what was packed"}: install it again`,
			);
		try {
			// Some installers lose the right to execute.
			await access(there, constants.X_OK).catch(() => chmod(there, 0o755));
		} catch (error) {
			return passed(`${there} is not executable, and cannot be made so (${reasonOf(error)})`);
		}
	}
	return { folder, go, name: `${name} ${mqbench}` };
}

// --- internal ---

async function offers(near: string, name: string): Promise<boolean> {
	const file = path.join(near, "package.json");
	const text = await readFile(file, "utf8").catch(() => "{}");
	return name in (JSON.parse(text).optionalDependencies ?? {});
}
