import { existsSync } from "node:fs";
import { copyFile, cp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { failure } from "../../runner/errors.ts";
import { BUILD_FLAGS, type BuildOptions, buildArguments } from "./build.ts";
import { MANIFEST, type Module, manifestIn } from "./extension.ts";
import { go } from "./go.ts";
import { HERE, programIn } from "./programs.ts";
import { runTool } from "./tool.ts";

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
		.map((one) => manifestIn(one.folder, one.module).broker);
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
