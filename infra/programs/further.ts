import { existsSync } from "node:fs";
import { copyFile, cp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { moduleName, type Outside } from "../../runner/brokers/outside.ts";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { packageVersion } from "../../runner/package.ts";
import { sha256 } from "../../runner/sha256.ts";
import type { World } from "../../runner/world.ts";
import { BUILD_FLAGS, type BuildOptions, buildArguments, buildKey, described } from "./build.ts";
import { filesIn, MANIFEST, type Module, manifestIn, treeSum } from "./extension.ts";
import { go } from "./go.ts";
import { type Builds, builtOnce } from "./once.ts";
import { ALL_DRIVERS, EXTENSIONS, HERE, type Platform, programIn } from "./programs.ts";
import { runTool } from "./tool.ts";

/** A driver that is in no k6 of ours: one of mqbench's that is linked when a scenario has it, or one from outside. */
export type Apart = Outside | (Module & { readonly title: string });

/** The k6 with all drivers and these. Folders from outside are built from a copy that has the sum that was allowed. */
export async function withDrivers(
	world: World,
	options: Builds,
	platform: Platform,
	modules: readonly Apart[],
): Promise<{ readonly k6: string; readonly origin: string }> {
	const { extensions = EXTENSIONS, version = packageVersion } = options;
	const own = buildKey(extensions, version, platform, ALL_DRIVERS);
	const key = sha256(
		JSON.stringify([own, ...modules.map(({ module, version, sum }) => [module, version, sum])]),
	);
	const title = modules.map((one) => one.title).join(" and ");
	const outside = modules.filter((one) => "manifest" in one);
	const { folder } = await builtOnce(world, options, platform, {
		key: key.slice(0, 16),
		programs: ALL_DRIVERS,
		title: `k6 with all drivers and ${title}`,
		once: " for these files",
		make: async (how) => {
			try {
				const linked = await Promise.all(modules.map((one) => copied(one, how.folder)));
				await buildFurther({ ...how, bundle: null, modules: linked });
			} catch (error) {
				throw outside.length > 0 ? explained(error, title) : error;
			}
			return described(how);
		},
	});
	return {
		k6: programIn(folder, "k6", platform),
		origin: [
			"built here from extensions/",
			...outside.map((one) => `${one.title} (${one.sum})`),
		].join(" and "),
	};
}

/** A k6 with all drivers and further modules. */
export interface FurtherOptions extends Omit<BuildOptions, "programs"> {
	/** mqbench's TypeScript for the k6 (runner/inside-k6/bundle.ts); null for one that only measures. */
	readonly bundle: string | null;
	readonly modules: readonly Module[];
}

/** Builds it, and returns our names ("k6/x/kafka") that a further extension replaces: it registers the name, and ours is left out. */
export async function buildFurther(options: FurtherOptions): Promise<readonly string[]> {
	const { cwd, folder, modules, platform, version, onProgress } = options;
	for (const { module, folder: from } of modules) {
		const needs = await readFile(path.join(from, "go.mod"), "utf8").catch(() => "");
		// One for another k6 (go.k6.io/k6, without v2) can be linked, but is never called.
		if (!needs.includes("go.k6.io/k6/v2 ") && !needs.includes(`${CONTRACT} `))
			throw failure("extension-silent", { module });
	}
	const brokers = modules
		.filter((one) => existsSync(path.join(one.folder, MANIFEST)))
		.map((one) => manifestIn(one.folder, one.module, one.version).broker);
	const k6 = programIn(folder, "k6", platform);
	const inModule = { ...options, cwd: await writeModule(options) };
	const replaced: string[] = [];
	for (;;) {
		const tags = ["drivers", ...replaced.map((name) => `without_${name.replaceAll("/", "_")}`)];
		let done = 0;
		onProgress("packages", 0, 0);
		// The last -mod counts.
		const flags = ["-tags", tags.join(), ...BUILD_FLAGS, "-mod=mod"];
		await go(buildArguments(version, k6, flags, ["."]), {
			...inModule,
			onStderr: () => onProgress("packages", ++done, 0),
		});
		if (platform !== HERE) return replaced;
		// k6 does not start if two register the same extension.
		const { code, tail } = await runTool([k6, "version"], inModule);
		const said = tail.join("\n");
		const name = /extension already registered: (\S+)/.exec(said)?.[1];
		if (name === undefined) {
			if (code !== 0)
				throw failure("k6-unusable", { path: k6, reason: tail[0] ?? "it does not run" });
			const broker = brokers.find((driver) => !said.includes(`k6/x/mqbench/${driver} `));
			if (broker !== undefined) throw failure("driver-missing", { broker });
			return replaced;
		}
		// Our modules that another extension may replace have a separate file, with a build tag.
		const own = path.join(cwd, name.replace("k6/x/", "xk6-"), "register_module.go");
		if (replaced.includes(name) || !existsSync(own)) throw failure("extension-twice", { name });
		replaced.push(name);
	}
}

// --- internal ---

async function copied(one: Apart, into: string): Promise<Module> {
	if (!("manifest" in one) || one.version !== null) return one;
	const { folder, sum, title, manifest } = one;
	const to = path.join(into, moduleName(manifest));
	for (const file of await filesIn(folder)) await cp(path.join(folder, file), path.join(to, file));
	if ((await treeSum(to)) === sum) return { ...one, folder: to };
	const reason = "its files changed while they were read";
	const remedy = "Let nothing write there, and run it again";
	throw failure("extension-refused", { extension: title, reason, remedy });
}

/** Go's last words are about the stranger's code, not ours. */
function explained(error: unknown, extension: string): unknown {
	if (!(error instanceof MqbenchError) || !/^(go-build|go-sum|k6-unusable)$/.test(error.code))
		return error;
	const { last, reason } = error.details as { readonly [_ in "last" | "reason"]?: string };
	return failure("extension-build", { extension, last: last ?? reason });
}

const CONTRACT = "github.com/mqbench/mqbench/extensions/xk6-mqbench";

const BUNDLE = "inside-k6.js";
const EMBEDS = `package main

import (
	_ "embed"

	"${CONTRACT}/runner"
)

//go:embed ${BUNDLE}
var bundle string

func init() { runner.Embed(bundle) }
`;

/** Writes the module of the program, and returns its folder. */
async function writeModule({ cwd, bundle, folder, modules }: FurtherOptions) {
	const to = path.join(folder, "module");
	await cp(path.join(cwd, "cmd", "k6"), to, { recursive: true });
	if (bundle !== null) {
		await copyFile(bundle, path.join(to, BUNDLE));
		await writeFile(path.join(to, "inside_k6.go"), EMBEDS);
	}
	const imports = modules.map(({ module }) => `import _ "${module}"`);
	await writeFile(path.join(to, "further.go"), ["package main", ...imports, ""].join("\n"));
	const text = await readFile(path.join(cwd, "go.mod"), "utf8");
	const ours = text
		.replace(/^module .*$/m, "module k6")
		.replace(/=> \.(\/.+)$/gm, (_, own) => `=> ${JSON.stringify(cwd + own)}`)
		.split("\n")
		// Our examples are in our go.mod, too.
		.filter((line) => !modules.some(({ module }) => line.trim().split(" ")[0] === module));
	const theirs = modules.map(({ module, version, folder }) =>
		version === null
			? `require ${module} v0.0.0\nreplace ${module} => ${JSON.stringify(folder)}`
			: `require ${module} ${version}`,
	);
	await writeFile(path.join(to, "go.mod"), [...ours, ...theirs, ""].join("\n"));
	const sumsOf = (from: string) => readFile(path.join(from, "go.sum"), "utf8").catch(() => "");
	const sums = modules.map(({ module, version, folder, sum }) =>
		version === null ? sumsOf(folder) : `${module} ${version} ${sum}`,
	);
	const all = await Promise.all([sumsOf(cwd), ...sums]);
	await writeFile(path.join(to, "go.sum"), [...all, ""].join("\n"));
	return to;
}
