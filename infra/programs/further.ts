import { existsSync } from "node:fs";
import { copyFile, cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { failure } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import { BUILD_FLAGS, buildArguments } from "./build.ts";
import { MANIFEST, manifestIn } from "./extension.ts";
import { checkGo, type GoOptions, go } from "./go.ts";
import { HERE } from "./programs.ts";
import { runTool } from "./tool.ts";

/** A k6 for people: with mqbench's TypeScript in it, and with further extensions. */
export interface FurtherOptions extends Omit<GoOptions, "cwd"> {
	/** Folder of our Go modules. */
	readonly extensions: string;
	/** mqbench's TypeScript for the k6 (runner/inside-k6/bundle.ts); null for one that only measures. */
	readonly bundle: string | null;
	readonly version: string;
	/** Path of the k6 to write. */
	readonly out: string;
	/** Folder of the Go module that makes it, next to it: go.mod and go.sum pin every version, for the next build as well. */
	readonly lock: string;
	/** Extensions: a folder, or "module@version". */
	readonly further: readonly string[];
	/** Lines of go.sum that the build must keep to. */
	readonly sums?: readonly string[];
	/** Brokers whose drivers it must have. */
	readonly drivers?: readonly string[];
	/** Called with how many packages are compiled. */
	onProgress(phase: "packages", done: number, all: number): void;
}

/** Builds it, and returns our names ("k6/x/kafka") that a further extension replaces: it registers the name, and ours is left out. */
export async function buildFurther(options: FurtherOptions): Promise<readonly string[]> {
	const { extensions, lock, out, version, onProgress } = options;
	await checkGo({ ...options, cwd: extensions });
	const added = await Promise.all(options.further.map(read));
	const pinned = await writeModule(options, added);
	const inModule = { ...options, cwd: lock };
	const temporary = `${out}.part`;
	const replaced: string[] = [];
	try {
		for (;;) {
			const tags = ["drivers", ...replaced.map((name) => `without_${name.replaceAll("/", "_")}`)];
			const mode = pinned || replaced.length > 0 ? "-mod=readonly" : "-mod=mod";
			let done = 0;
			onProgress("packages", 0, 0);
			// The last -mod counts.
			await go(
				buildArguments(version, temporary, ["-tags", tags.join(), ...BUILD_FLAGS, mode], ["."]),
				{ ...inModule, onStderr: () => onProgress("packages", ++done, 0) },
			);
			for (const { module } of added) await checkRegisters(inModule, module);
			if (options.platform && options.platform !== HERE) break;
			// k6 does not start if two register the same extension.
			const { code, tail } = await runTool([temporary, "version"], inModule);
			const name = /extension already registered: (\S+)/.exec(tail.join("\n"))?.[1];
			if (name === undefined && code !== 0)
				throw failure("k6-unusable", { path: temporary, reason: tail[0] ?? "it does not run" });
			if (name === undefined) {
				const has = (driver: string) =>
					tail.some((text) => text.includes(`k6/x/mqbench/${driver} `));
				const broker = options.drivers?.find((driver) => !has(driver));
				if (broker !== undefined) throw failure("driver-missing", { broker });
				break;
			}
			// Our modules that another extension may replace have a separate file, with a build tag.
			const own = path.join(extensions, name.replace("k6/x/", "xk6-"), "register_module.go");
			if (replaced.includes(name) || !existsSync(own)) throw failure("extension-twice", { name });
			replaced.push(name);
		}
		await rename(temporary, out);
		return replaced;
	} catch (error) {
		// It may be half pinned.
		if (!pinned) await rm(lock, { recursive: true, force: true });
		throw error;
	} finally {
		await rm(temporary, { force: true });
	}
}

// --- internal ---

const OWN = "github.com/mqbench/mqbench/extensions";

const BUNDLE = "inside-k6.js";
const EMBEDS = `package main

import (
	_ "embed"

	"${OWN}/xk6-mqbench/runner"
)

//go:embed ${BUNDLE}
var bundle string

func init() { runner.Embed(bundle) }
`;

/** A further extension; `folder` has its sources, null takes the proxy's. */
interface Added {
	readonly module: string;
	readonly version: string;
	readonly folder: string | null;
}

async function read(text: string): Promise<Added> {
	const [, module, version] = /^([^@\s]+)@(v\S+)$/.exec(text) ?? [];
	if (module !== undefined && version !== undefined) return { module, version, folder: null };
	const folder = path.resolve(text);
	const unreadable = (reason: string) => failure("extension-unreadable", { text, reason });
	const source = await readFile(path.join(folder, "go.mod"), "utf8").catch((error) => {
		throw unreadable(reasonOf(error));
	});
	const name = /^module\s+(\S+)/m.exec(source)?.[1];
	if (name === undefined) throw unreadable("its go.mod names no module");
	return { module: name, version: "v0.0.0", folder };
}

/** Writes the module of the program, and returns whether go.mod pins all that it needs, from an earlier build with the same extensions. */
async function writeModule(
	{ extensions, bundle, lock, version, sums = [] }: FurtherOptions,
	added: readonly Added[],
): Promise<boolean> {
	await mkdir(lock, { recursive: true });
	await cp(path.join(extensions, "cmd", "k6"), lock, { recursive: true });
	if (bundle !== null) {
		await copyFile(bundle, path.join(lock, BUNDLE));
		await writeFile(path.join(lock, "inside_k6.go"), EMBEDS);
	}
	const imports = `package main\n\n// mqbench ${version}\nimport (\n${added.map(({ module }) => `\t_ "${module}"\n`).join("")})\n`;
	const before = await readFile(path.join(lock, "further.go"), "utf8").catch(() => "");
	await writeFile(path.join(lock, "further.go"), imports);
	const known = before === imports;
	const text = await readFile(path.join(known ? lock : extensions, "go.mod"), "utf8");
	const ours = await readFile(path.join(extensions, "go.sum"), "utf8");
	if (!known)
		await writeFile(path.join(lock, "go.sum"), `${ours}${sums.map((one) => `${one}\n`).join("")}`);
	const requires = added.map(
		({ module, version, folder }) =>
			`require ${module} ${version}\n${folder === null ? "" : `replace ${module} => ${folder}\n`}`,
	);
	// Our examples are in our go.mod, too.
	const others = text
		.split("\n")
		.filter((line) => !added.some(({ module }) => line.trim().split(" ")[0] === module));
	const whole = known
		? text
		: `${others.join("\n").replace(/^module .*$/m, "module k6")}\n${requires.join("")}`;
	// Folders may have moved since.
	const folders = new Map(added.map(({ module, folder }) => [module, folder]));
	await writeFile(
		path.join(lock, "go.mod"),
		whole.replace(/(\S+) => .+$/gm, (line, module: string) => {
			const own = module.startsWith(`${OWN}/`)
				? path.join(extensions, module.slice(OWN.length + 1))
				: null;
			const folder = folders.get(module) ?? own;
			return folder
				? `${module} => ${/^[\w./~-]+$/.test(folder) ? folder : JSON.stringify(folder)}`
				: line;
		}),
	);
	return known;
}

/**
 * An extension of another k6 (go.k6.io/k6, without v2) can be linked, but is never called. A driver registers with our contract, and its manifest
 * says with which.
 */
async function checkRegisters(options: GoOptions, module: string): Promise<void> {
	let registers = false;
	let folder: string | null = null;
	const onStdout = (line: string) => {
		const [name, where] = line.split("\t");
		if (name === "go.k6.io/k6/v2/ext" || name === `${OWN}/xk6-mqbench/broker`) registers = true;
		if (name === module && where && existsSync(path.join(where, MANIFEST))) folder = where;
	};
	await go(["list", "-deps", "-f", "{{.ImportPath}}\t{{.Dir}}", module], { ...options, onStdout });
	if (!registers) throw failure("extension-silent", { module });
	if (folder !== null) manifestIn(folder, module);
}
