import { constants } from "node:fs";
import {
	access,
	chmod,
	copyFile,
	mkdir,
	mkdtemp,
	readFile,
	rename,
	rm,
	writeFile,
} from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { z } from "zod";
import type { BuiltProgram } from "../../runner/brokers/server.ts";
import { reasonOf } from "../../runner/reason.ts";
import { sha256OfFile } from "../../runner/sha256.ts";
import { type BuildFile, readBuild } from "./build.ts";
import { programIn } from "./programs.ts";

/** manifest.json of a platform package: the programs in its bin/, and what they were made of. */
export const Manifest = z.strictObject({
	schema: z.literal(1),
	mqbench: z.string(),
	/** In Go's words: "linux/amd64". */
	platform: z.string(),
	/** "go1.26.8" */
	go: z.string(),
	/** Keys of the builds (cache.ts) whose place its programs take: the sources are the same, and k6 has all drivers. */
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

/** "@mqbench/linux-x64": of a platform, in Node's words. */
export function packageName(system: string, processor: string): string {
	return `@mqbench/${system}-${processor}`;
}

/** What a platform package gives: its programs, or a sentence why it is passed over. */
export type Packed =
	| {
			readonly folder: string;
			readonly build: BuildFile;
			/** "@mqbench/linux-x64 0.2.0" */
			readonly name: string;
	  }
	/** null: this mqbench offers none for the platform; a clone offers none at all. */
	| { readonly why: string | null };

/**
 * Looks for the package of a platform where Node would, from the folder `near`: it is taken only if it was made of the same sources, and its
 * programs are what was packed. Some installers lose the right to execute; then a copy of them goes to `cache`.
 */
export async function findPacked(
	name: string,
	{
		near,
		cache,
		key,
		programs,
		exe,
	}: {
		readonly near: string;
		/** Folder of the build in the cache; null: somebody only looks, and nothing is copied. */
		readonly cache: string | null;
		readonly key: string;
		readonly programs: readonly BuiltProgram[];
		readonly exe: string;
	},
): Promise<Packed> {
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
	} catch (error) {
		const reason = error instanceof z.ZodError ? "it is not what mqbench writes" : reasonOf(error);
		return passed(`its manifest.json cannot be read (${reason})`);
	}
	const { mqbench, go, builds, sha256, platform } = manifest;
	const files = programs.map(({ name }) => name);
	const without = files.find((program) => !(program in sha256));
	if (without !== undefined) return passed(`${without} is not among its programs`);
	if (!builds.includes(key)) return passed(`it was made of other sources (mqbench ${mqbench})`);
	const folder = path.join(path.dirname(file), "bin");
	for (const program of files) {
		const there = programIn(folder, program, exe);
		const found = await sha256OfFile(there).catch(() => null);
		if (found !== sha256[program])
			return passed(
				`${program} in it is ${found === null ? "missing" : "not what was packed"}: install it again`,
			);
	}
	const build: BuildFile = { schema: 1, go, mqbench, sha256, platform };
	const own = { build, name: `${name} ${mqbench}` };
	const paths = files.map((program) => programIn(folder, program, exe));
	if (cache === null || (await allExecutable(paths))) return { folder, ...own };
	const copied = { folder: cache, ...own };
	if (await readBuild(cache, exe, programs)) return copied;
	try {
		await mkdir(path.dirname(cache), { recursive: true });
		// As a build names its own, so that what a killed one leaves is known.
		const { dir, base } = path.parse(cache);
		const temporary = await mkdtemp(path.join(dir, `.${base}-`));
		try {
			for (const program of paths)
				await copyExecutable(program, path.join(temporary, path.basename(program)));
			const text = JSON.stringify(build);
			await writeFile(path.join(temporary, "build.json"), text);
			await rm(cache, { recursive: true, force: true });
			await rename(temporary, cache);
		} finally {
			await rm(temporary, { recursive: true, force: true });
		}
	} catch (error) {
		// Another mqbench may have been faster.
		if (await readBuild(cache, exe, programs)) return copied;
		return passed(
			`its programs may not be executed where they are, and cannot be copied to ${cache} (${reasonOf(error)})`,
		);
	}
	return copied;
}

// --- internal ---

async function offers(near: string, name: string): Promise<boolean> {
	const file = path.join(near, "package.json");
	const text = await readFile(file, "utf8").catch(() => "{}");
	return name in (JSON.parse(text).optionalDependencies ?? {});
}

async function copyExecutable(from: string, to: string): Promise<void> {
	await copyFile(from, to);
	await chmod(to, 0o755);
}

async function allExecutable(files: readonly string[]): Promise<boolean> {
	try {
		for (const file of files) await access(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
