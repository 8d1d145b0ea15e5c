import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { unzipSync } from "fflate";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import { maskUserinfo } from "../../runner/secrets.ts";
import { orInterrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { agreed } from "../ask.ts";
import { cacheFolder, fromCache } from "./cache.ts";
import { checkGo } from "./go.ts";
import { HERE } from "./programs.ts";
import { h1Of } from "./sums.ts";

/** The Go to download if there is none, and its entries in Go's checksum database (sum.golang.org), by platform. */
export const TOOLCHAIN = "go1.26.8";
const SUMS: Readonly<Record<string, string>> = {
	"linux/amd64": "h1:ZOmGe1OnfREDMIdb1Qi4G9JSuDPBLGExZMQ4nis1RXM=",
	"linux/arm64": "h1:sYL/O6MqS68ML0kjsQ36WoYIpJqkw60TxizWUYUKQMc=",
	"darwin/amd64": "h1:7/9KPPN8PckcA9s91hm2jmQMhzW4KyTJXHIs45L0C9M=",
	"darwin/arm64": "h1:dFjGhY6f8DTsY8/rLchUTDRRfjJP4pCrGCwxvHFT2Fg=",
};

type Asking = Pick<World, "env" | "stop" | "ask">;

export interface ToolchainOptions {
	/** The folder extensions/, whose go.mod has the required version of Go. */
	readonly extensions: string;
	/** Download without asking. */
	readonly yes: boolean;
	/** Why there is no package of this platform, for people; null if not looked for yet. */
	readonly why: string | null;
	/** MB received, and in total. */
	onProgress?(done: number, all: number): void;
	/** Another mqbench, with this process, downloads it. */
	onWait?: ((pid: number) => void) | undefined;
	/** For tests: platform and sums. */
	readonly platform?: string;
	readonly sums?: Readonly<Record<string, string>>;
}

/**
 * An environment in which `go` builds: this one, if its Go is new enough; else one with a Go downloaded from the user's own module proxy
 * (GOPROXY), into the cache, once, after a question. Fails with one sentence and all ways out.
 */
export async function goReady(world: Asking, options: ToolchainOptions): Promise<World["env"]> {
	const check = (env: World["env"]) => checkGo({ cwd: options.extensions, env, stop: world.stop });
	const missing: unknown = await check(world.env).catch((error) => error);
	if (missing === undefined) return world.env;
	if (!(missing instanceof MqbenchError) || !/^go-(?:missing|old)$/.test(missing.code))
		throw missing;
	const folder = path.join(cacheFolder(world.env, process.platform), "go", TOOLCHAIN);
	await fromCache(world, {
		folder,
		read: async () => existsSync(folder) || null,
		make: (to) => fetchGo(world, options, missing, to),
		onWait: options.onWait,
	});
	const bin = path.join(folder, "bin");
	const env = {
		...world.env,
		PATH: world.env.PATH ? `${bin}${path.delimiter}${world.env.PATH}` : bin,
		// It finds itself, and builds the modules.
		GOROOT: undefined,
		GOTOOLCHAIN: "local",
	};
	await check(env);
	return env;
}

/** The first proxy of a GOPROXY; null if there is none, only "direct", or "off". */
export function proxyIn(text: string | undefined): URL | null {
	const one = (text ?? "")
		.split(/[,|]/)
		.map((entry) => entry.trim())
		.find((entry) => /^(?:https?|file):/.test(entry) && URL.canParse(entry));
	return one === undefined ? null : new URL(one);
}

/** Go's hash of a module's files. */
export function hash1(files: Readonly<Record<string, Uint8Array>>): string {
	const sumOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
	return h1Of(new Map(Object.entries(files).map(([name, bytes]) => [name, sumOf(bytes)])));
}

// --- internal ---

/** Asks, downloads and checks. If it may not, `missing` lists the ways out. */
async function fetchGo(
	world: Asking,
	{ yes, why, platform = HERE.name, sums = SUMS, onProgress = () => {} }: ToolchainOptions,
	missing: MqbenchError,
	to: string,
): Promise<void> {
	const [proxy, wanted] = [proxyIn(world.env.GOPROXY), sums[platform]];
	if (proxy === null || wanted === undefined)
		throw missing.code === "go-missing"
			? failure("go-missing", { why: why === null ? "" : `\n${why}` })
			: missing;
	const from = maskUserinfo(proxy.href);
	const question = `There is no Go on PATH. Fetch ${TOOLCHAIN} from ${from} (70 MB), to build the load generator with it once?`;
	if (!yes && world.ask === null) throw failure("go-unasked", { go: TOOLCHAIN, from });
	if (!yes && !(await agreed(question, world))) throw failure("go-missing", { why: "" });
	const module = `golang.org/toolchain@v0.0.1-${TOOLCHAIN}.${platform.replace("/", "-")}`;
	const refuse = (reason: string) => failure("go-unfetched", { go: TOOLCHAIN, from, reason });
	const url = new URL(proxy);
	url.pathname = `${url.pathname.replace(/\/$/, "")}/${module.replace("@", "/@v/")}.zip`;
	let files: Record<string, Uint8Array>;
	try {
		files = unzipSync(await download(url, world.stop, onProgress));
	} catch (error) {
		orInterrupted(world.stop);
		// fetch itself reports only that it failed.
		throw refuse(maskUserinfo(reasonOf((error as Error).cause ?? error)));
	}
	if (hash1(files) !== wanted)
		throw refuse(`it is not what Go's checksum database says it is (${wanted})`);
	for (const [file, bytes] of Object.entries(files)) {
		orInterrupted(world.stop);
		const inside = file.slice(module.length + 1);
		await mkdir(path.dirname(path.join(to, inside)), { recursive: true });
		// A module's zip has no modes.
		const mode = /^(?:bin|pkg\/tool)\//.test(inside) ? 0o755 : 0o644;
		await writeFile(path.join(to, inside), bytes, { mode });
	}
}

async function download(
	url: URL,
	stop: AbortSignal,
	onProgress: (done: number, all: number) => void,
): Promise<Uint8Array> {
	if (url.protocol === "file:") return await readFile(fileURLToPath(url));
	const response = await fetch(url, { signal: stop });
	if (!response.ok || response.body === null)
		throw new Error(`it answers with HTTP status ${response.status}`);
	const all = Number(response.headers.get("content-length") ?? 0);
	const parts: Uint8Array[] = [];
	let done = 0;
	for await (const part of response.body) {
		parts.push(part);
		done += part.length;
		onProgress(Math.floor(done / MB), Math.ceil(all / MB));
	}
	return Buffer.concat(parts);
}

const MB = 1e6;
