import { lstat, readdir, readFile, realpath } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { brokerFrom, CONTRACT, Manifest, type Outside } from "../../runner/brokers/outside.ts";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { readGiven, sizeOfGiven } from "../../runner/given-folder.ts";
import { reasonOf } from "../../runner/reason.ts";
import { MODULE_PATH, type NamedExtension } from "../../runner/scenario/schema.ts";
import { formatBytesExact } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { go } from "./go.ts";
import { EXTENSIONS } from "./programs.ts";
import { h1Of, sumsOf } from "./sums.ts";
import { goReady } from "./toolchain.ts";

/** Paths count from its `cwd`. */
type Asking = Pick<World, "cwd" | "env" | "stop" | "ask">;

/** A Go module that k6 can link. */
export interface Module extends Pick<Outside, "module" | "version" | "folder"> {
	/** As in go.sum; null for a folder. */
	readonly sum: string | null;
}

/** "../xk6-mybroker", "github.com/me/xk6-mybroker@v1.2.3" */
export function extensionNamed(text: string): NamedExtension {
	const [, module, version = ""] = /^([^@\s]+)@(v\S+)$/.exec(text) ?? [];
	return module === undefined ? { path: text } : { module, version };
}

/** Finds a module, or downloads it. Nothing of it is run. */
export async function findModule(
	named: NamedExtension,
	world: Asking,
	yes = false,
): Promise<Module> {
	if (!("path" in named)) return ofProxy(named, world, yes);
	const folder = await realpath(path.resolve(world.cwd, named.path));
	if (!(await lstat(folder)).isDirectory()) throw new Error("it is not a folder");
	const module = /^module\s+(\S+)/m.exec(readGiven(path.join(folder, "go.mod")))?.[1] ?? "";
	if (!MODULE_PATH.test(module)) throw new Error("its go.mod names no module");
	return { module, version: null, folder, sum: null };
}

/** Reads what a driver's module says about itself. Strangers wrote it: fails with one sentence. */
export async function readExtension(
	named: NamedExtension,
	world: Asking,
	yes = false,
): Promise<Outside> {
	const title = "path" in named ? named.path : `${named.module} ${named.version}`;
	try {
		const found = await findModule(named, world, yes);
		const { module, version, folder } = found;
		const ours = await readFile(path.join(EXTENSIONS, "go.mod"), "utf8");
		if (ours.split(/\s+/).includes(module) && !/\/extensions\/examples\/[^/]+$/.test(module))
			throw new Error(`its go.mod has the name ${module}, which mqbench itself uses`);
		const manifest = manifestIn(folder, title, version);
		const sum = found.sum ?? (await treeSum(folder));
		const whole = version === null ? `${module} in ${title}` : title;
		return { module, version, folder, title: whole, sum, manifest, broker: brokerFrom(manifest) };
	} catch (error) {
		if (error instanceof MqbenchError) throw error;
		const { code, path: file } = error as NodeJS.ErrnoException;
		const reason = code === "ENOENT" ? `there is no ${file}` : reasonOf(error);
		const remedy = "path" in named ? REMEDIES.folder : REMEDIES.version;
		throw failure("extension-refused", { extension: title, reason, remedy });
	}
}

/** All of them, each with a broker of its own. */
export async function readExtensions(
	named: readonly NamedExtension[],
	world: Asking,
	yes = false,
): Promise<readonly Outside[]> {
	const found: Outside[] = [];
	for (const one of named) {
		const next = await readExtension(one, world, yes);
		const same = found.find(
			({ module, manifest }) => module === next.module || manifest.broker === next.manifest.broker,
		);
		if (same)
			throw failure("extension-refused", {
				extension: next.title,
				reason: `${same.title} has the same broker or module`,
				remedy: "Remove one of them from extensions",
			});
		found.push(next);
	}
	return found;
}

/** The manifest of the module with this folder. */
export function manifestIn(folder: string, extension: string, version: string | null): Manifest {
	const file = path.join(folder, MANIFEST);
	try {
		if ((sizeOfGiven(file) ?? 0) > MOST_BYTES)
			throw new Error(`it is larger than ${formatBytesExact(MOST_BYTES)}`);
		const json: unknown = JSON.parse(readGiven(file));
		// Another contract may have another form.
		const theirs = z.object({ contract: z.int() }).safeParse(json).data?.contract;
		if (theirs !== undefined && theirs !== CONTRACT)
			throw failure("extension-contract", { extension, theirs, ours: CONTRACT });
		return Manifest.parse(json);
	} catch (error) {
		if (error instanceof MqbenchError) throw error;
		const [issue] = error instanceof z.ZodError ? error.issues : [];
		const why = error instanceof SyntaxError ? "it is not JSON" : reasonOf(error);
		const reason = issue
			? `${[MANIFEST, ...issue.path].join(" ")}: ${issue.message}`
			: `its manifest, ${MANIFEST}, cannot be read: ${why}`;
		const remedy = version === null ? `Correct ${MANIFEST} in that folder` : REMEDIES.version;
		throw failure("extension-refused", { extension, reason, remedy });
	}
}

/** Go's h1 of a folder's files, by their names in it. */
export async function treeSum(folder: string): Promise<string> {
	return h1Of(await sumsOf(folder, await filesIn(folder)));
}

/** Files of a module's folder that count. */
export async function filesIn(folder: string, inside = ""): Promise<string[]> {
	const found: string[] = [];
	const entries = await readdir(path.join(folder, inside), { withFileTypes: true });
	// Results of a run, wherever --out has put them.
	const isRun = ["command.json", "runs"].every((own) => entries.some(({ name }) => name === own));
	if (isRun && inside !== "") return [];
	for (const entry of entries) {
		const name = path.posix.join(inside, entry.name);
		if (LEFT_OUT.test(name)) continue;
		if (entry.isDirectory()) for (const one of await filesIn(folder, name)) found.push(one);
		else if (entry.isFile() && !name.includes("\n")) found.push(name);
		else
			throw new Error(`${JSON.stringify(name)} in it is not a plain file, and may lead out of it`);
		if (found.length > MOST_FILES) throw new Error(`it has more than ${MOST_FILES} files`);
	}
	return found;
}

export const MANIFEST = "mqbench.json";

// --- internal ---

/** What comes and goes beside the sources: these are not built from it, and the copy has none of it. */
const LEFT_OUT = /^(\.git|go\.work(\.sum)?|reports|[^/]+\.(ya?ml|lock))$/;
const REMEDIES = {
	folder: "Correct that file, or the path",
	version: "Correct extensions, or take another version",
};
const MOST_FILES = 2000;
const MOST_BYTES = 64 * 1024;

/** Downloads it, by the user's own settings for Go, which checks it against Go's checksum database. */
async function ofProxy(
	{ module, version }: { readonly module: string; readonly version: string },
	world: Asking,
	yes: boolean,
): Promise<Module> {
	const env = await goReady(world, { extensions: EXTENSIONS, yes, why: null });
	const answer: string[] = [];
	try {
		await go(["mod", "download", "-json", `${module}@${version}`], {
			cwd: path.parse(EXTENSIONS).root,
			env,
			stop: world.stop,
			onStdout: (text) => void answer.push(text),
		});
	} catch (error) {
		if (!(error instanceof MqbenchError) || error.code === "interrupted") throw error;
		const { last = error.message } = error.details as { readonly last?: string };
		throw new Error(`it cannot be downloaded: ${last.split("\n").slice(-3).join(" ").trim()}`);
	}
	const { Dir, Sum } = z
		.object({ Dir: z.string(), Sum: z.string() })
		.parse(JSON.parse(answer.join("\n")));
	return { module, version, folder: Dir, sum: Sum };
}
