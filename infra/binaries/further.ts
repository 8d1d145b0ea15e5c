import { execFile } from "node:child_process";
import {
	access,
	copyFile,
	mkdir,
	readdir,
	readFile,
	rename,
	rm,
	writeFile,
} from "node:fs/promises";
import path from "node:path";
import { failure } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import { BUILD_FLAGS } from "./build.ts";
import { checkGo, type GoOptions, go } from "./go.ts";

/** A k6 for people: with mqbench's TypeScript in it, and with further extensions. */
export interface FurtherOptions extends Omit<GoOptions, "cwd"> {
	/** Folder of our Go modules. */
	readonly extensions: string;
	/** mqbench's TypeScript for the k6 (runner/inside-k6/bundle.ts). */
	readonly bundle: string;
	readonly version: string;
	/** Where the k6 comes to stand. */
	readonly out: string;
	/** Folder of the Go module that makes it, beside it: go.mod and go.sum pin every version, for the next build as well. */
	readonly lock: string;
	/** Extensions: a folder, or "module@version". */
	readonly further: readonly string[];
	/** Called with how many packages are compiled. */
	onProgress(phase: "packages", done: number, all: number): void;
}

/** What a k6 has that was built. */
export interface Further {
	/** Names of ours whose place a further extension takes: "k6/x/kafka". */
	readonly replaced: readonly string[];
}

/** Builds it. Where a further extension registers a name of ours, ours is left out. */
export async function buildFurther(options: FurtherOptions): Promise<Further> {
	const { lock, out } = options;
	await checkGo({ ...options, cwd: options.extensions });
	const added: Added[] = [];
	for (const text of options.further) added.push(await read(text));
	const pinned = await writeModule(options, added);
	const go = { ...options, cwd: lock };
	const temporary = `${out}.part`;
	const replaced: string[] = [];
	try {
		for (;;) {
			await compile(go, temporary, replaced, pinned || replaced.length > 0);
			for (const { module } of added) await checkRegisters(go, module);
			const name = await twice(temporary);
			if (name === null) break;
			if (replaced.includes(name) || !(await mayReplace(options, name)))
				throw failure("extension-twice", { name });
			replaced.push(name);
		}
		await rename(temporary, out);
		return { replaced };
	} catch (error) {
		// What it pins may be half of it.
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

/** A further extension; `folder`: where its sources are, null: the proxy's. */
interface Added {
	readonly module: string;
	readonly version: string;
	readonly folder: string | null;
}

async function read(text: string): Promise<Added> {
	const [, module, version] = /^([^@\s]+)@(v\S+)$/.exec(text) ?? [];
	if (module !== undefined && version !== undefined) return { module, version, folder: null };
	const folder = path.resolve(text);
	let source: string;
	try {
		source = await readFile(path.join(folder, "go.mod"), "utf8");
	} catch (error) {
		throw failure("extension-unreadable", { text, reason: reasonOf(error) });
	}
	const name = /^module\s+(\S+)/m.exec(source)?.[1];
	if (name === undefined)
		throw failure("extension-unreadable", { text, reason: "its go.mod names no module" });
	return { module: name, version: "v0.0.0", folder };
}

/** Writes the module of the program, and reports whether go.mod pins all that it needs: it was built before, with the same extensions. */
async function writeModule(
	{ extensions, bundle, lock, version }: FurtherOptions,
	added: readonly Added[],
): Promise<boolean> {
	await mkdir(lock, { recursive: true });
	await copyFile(bundle, path.join(lock, BUNDLE));
	await writeFile(path.join(lock, "inside_k6.go"), EMBEDS);
	const imports = `package main\n\n// mqbench ${version}\nimport (\n${added.map(({ module }) => `\t_ "${module}"\n`).join("")})\n`;
	const before = await readFile(path.join(lock, "further.go"), "utf8").catch(() => "");
	const sources = path.join(extensions, "cmd", "k6");
	for (const name of await readdir(sources))
		await copyFile(path.join(sources, name), path.join(lock, name));
	await writeFile(path.join(lock, "further.go"), imports);
	const known = before === imports;
	const from = known ? lock : extensions;
	const text = await readFile(path.join(from, "go.mod"), "utf8");
	if (!known) await copyFile(path.join(extensions, "go.sum"), path.join(lock, "go.sum"));
	const requires = added.map(
		({ module, version, folder }) =>
			`require ${module} ${version}\n${folder === null ? "" : `replace ${module} => ${folder}\n`}`,
	);
	const whole = known ? text : `${text.replace(/^module .*$/m, "module k6")}\n${requires.join("")}`;
	// Folders may have moved since.
	const folders = new Map(added.map(({ module, folder }) => [module, folder]));
	await writeFile(
		path.join(lock, "go.mod"),
		whole.replace(/(\S+) => \S+$/gm, (line, module: string) => {
			const folder = module.startsWith(`${OWN}/`)
				? path.join(extensions, module.slice(OWN.length + 1))
				: folders.get(module);
			return folder ? `${module} => ${folder}` : line;
		}),
	);
	return known;
}

/** Modules of ours that another extension may stand in for have a file of their own, with a build tag. */
async function mayReplace({ extensions }: FurtherOptions, name: string): Promise<boolean> {
	const [, broker] = /^k6\/x\/([a-z-]+)$/.exec(name) ?? [];
	const file = path.join(extensions, `xk6-${broker}`, "register_module.go");
	return access(file).then(
		() => true,
		() => false,
	);
}

async function compile(
	options: FurtherOptions & GoOptions,
	to: string,
	without: readonly string[],
	pinned: boolean,
): Promise<void> {
	let done = 0;
	options.onProgress("packages", 0, 0);
	const tags = ["large", ...without.map((name) => `without_${name.replaceAll("/", "_")}`)];
	await go(
		[
			"build",
			"-v",
			"-tags",
			tags.join(),
			...BUILD_FLAGS.filter((flag) => !flag.startsWith("-mod=")),
			pinned ? "-mod=readonly" : "-mod=mod",
			"-ldflags",
			`-s -w -X ${OWN}/xk6-mqbench.Version=${options.version}`,
			"-o",
			to,
			".",
		],
		{ ...options, onStderr: () => options.onProgress("packages", ++done, 0) },
	);
}

/** An extension of another k6 (go.k6.io/k6, without v2) can be linked, and is never asked for anything. */
async function checkRegisters(options: FurtherOptions & GoOptions, module: string): Promise<void> {
	let registers = false;
	await go(["list", "-deps", module], {
		...options,
		onStdout: (line) => {
			if (line === "go.k6.io/k6/v2/ext") registers = true;
		},
	});
	if (!registers) throw failure("extension-silent", { module });
}

/** Name of an extension that two register, which k6 does not survive; null: none. */
function twice(k6: string): Promise<string | null> {
	return new Promise((resolve, reject) =>
		execFile(k6, ["version"], { timeout: 30_000 }, (error, _, stderr) => {
			const name = /extension already registered: (\S+)/.exec(stderr)?.[1];
			if (name !== undefined) resolve(name);
			else if (error)
				reject(failure("k6-unusable", { path: k6, reason: stderr.split("\n")[0] ?? "" }));
			else resolve(null);
		}),
	);
}
