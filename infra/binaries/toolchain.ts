import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { unzipSync } from "fflate";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import { maskUserinfo } from "../../runner/secrets.ts";
import { orInterrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { agreed } from "../ask.ts";
import { takeLock } from "../lock.ts";
import { platformName } from "../platform.ts";
import { checkGo } from "./go.ts";
import { keepUsed } from "./used.ts";

/** The Go that is fetched where there is none, and what Go's checksum database says of it (sum.golang.org), by platform. */
export const TOOLCHAIN = "go1.26.8";
const SUMS: Readonly<Record<string, string>> = {
	"linux/amd64": "h1:ZOmGe1OnfREDMIdb1Qi4G9JSuDPBLGExZMQ4nis1RXM=",
	"linux/arm64": "h1:sYL/O6MqS68ML0kjsQ36WoYIpJqkw60TxizWUYUKQMc=",
	"darwin/amd64": "h1:7/9KPPN8PckcA9s91hm2jmQMhzW4KyTJXHIs45L0C9M=",
	"darwin/arm64": "h1:dFjGhY6f8DTsY8/rLchUTDRRfjJP4pCrGCwxvHFT2Fg=",
};

export interface ToolchainOptions {
	/** The folder extensions/, whose go.mod says which Go is needed. */
	readonly extensions: string;
	/** mqbench's cache. */
	readonly cache: string;
	/** Fetch without a question. */
	readonly yes: boolean;
	/** Why there is no package of this platform, for people; null: nobody has looked. */
	readonly why: string | null;
	/** MB that have arrived, of how many. */
	onProgress(done: number, all: number): void;
	/** Another mqbench, whose process this is, fetches it. */
	onWait(pid: number): void;
	/** For tests: platform and sums. */
	readonly platform?: string;
	readonly sums?: Readonly<Record<string, string>>;
}

/**
 * An environment in which `go` builds: this one, if its Go is new enough; else one with a Go that was fetched from the user's own module proxy
 * (GOPROXY), into the cache, once, after a question. Fails with one sentence and all ways out.
 */
export async function goReady(world: World, options: ToolchainOptions): Promise<World["env"]> {
	const { extensions, cache, why } = options;
	const check = (env: World["env"]) => checkGo({ cwd: extensions, env, stop: world.stop });
	const missing = await check(world.env).then(
		() => null,
		(error: unknown) => error,
	);
	if (missing === null) return world.env;
	if (!(missing instanceof MqbenchError) || !LACKS.has(missing.code)) throw missing;
	const folder = path.join(cache, "go", TOOLCHAIN);
	const env = withGo(world.env, folder);
	if (!existsSync(folder)) {
		const proxy = proxyIn(world.env.GOPROXY);
		const { platform = HERE, sums = SUMS } = options;
		// Where none may be fetched, the ways out are what was missing.
		if (proxy === null || sums[platform] === undefined)
			throw missing.code === "go-missing"
				? failure("go-missing", { why: why === null ? "" : `\n${why}` })
				: missing;
		await agree(world, options, proxy);
		const lock = await lockOf(folder, world, options);
		try {
			// Another mqbench may have been faster.
			if (!existsSync(folder)) await fetchGo(world, proxy, folder, options);
		} finally {
			await lock.release();
		}
	}
	keepUsed(folder);
	await check(env);
	return env;
}

/** The first proxy of a GOPROXY; null: there is none, only "direct", or "off". */
export function proxyIn(text: string | undefined): URL | null {
	const one = (text ?? "")
		.split(/[,|]/)
		.map((entry) => entry.trim())
		.find((entry) => /^(?:https?|file):/.test(entry) && URL.canParse(entry));
	return one === undefined ? null : new URL(one);
}

/** What `go` calls the hash of a module's files (golang.org/x/mod/sumdb/dirhash, Hash1). */
export function hash1(files: Readonly<Record<string, Uint8Array>>): string {
	const lines = Object.entries(files)
		.map(([name, bytes]) => [name, createHash("sha256").update(bytes).digest("hex")] as const)
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.map(([name, sum]) => `${sum}  ${name}\n`);
	return `h1:${createHash("sha256").update(lines.join("")).digest("base64")}`;
}

// --- internal ---

/** What a Go that is fetched makes good. */
const LACKS: ReadonlySet<string> = new Set(["go-missing", "go-old"]);

async function lockOf(folder: string, world: World, { onWait }: Pick<ToolchainOptions, "onWait">) {
	try {
		await mkdir(path.dirname(folder), { recursive: true });
		return await takeLock(`${folder}.lock`, world.stop, onWait);
	} catch (error) {
		orInterrupted(world.stop);
		throw failure("cache-unwritable", { path: path.dirname(folder), reason: reasonOf(error) });
	}
}

function withGo(env: World["env"], folder: string): World["env"] {
	const bin = path.join(folder, "bin");
	return {
		...env,
		PATH: env.PATH ? `${bin}${path.delimiter}${env.PATH}` : bin,
		// It finds itself, and is what the modules are built with.
		GOROOT: undefined,
		GOTOOLCHAIN: "local",
	};
}

async function agree(world: World, { yes }: ToolchainOptions, proxy: URL): Promise<void> {
	if (yes) return;
	const from = maskUserinfo(proxy.href);
	const question = `There is no Go on PATH. Fetch ${TOOLCHAIN} from ${from} (70 MB), to build the load generator with it once?`;
	if (world.ask === null) throw failure("go-unasked", { go: TOOLCHAIN, from });
	if (!(await agreed(question, world))) throw failure("go-missing", { why: "" });
}

async function fetchGo(
	world: World,
	proxy: URL,
	folder: string,
	{ platform = HERE, sums = SUMS, onProgress }: ToolchainOptions,
): Promise<void> {
	const wanted = sums[platform] ?? "";
	const from = maskUserinfo(proxy.href);
	const refuse = (reason: string) => failure("go-unfetched", { go: TOOLCHAIN, from, reason });
	const module = `golang.org/toolchain@v0.0.1-${TOOLCHAIN}.${platform.replace("/", "-")}`;
	const [name, version] = module.split("@") as [string, string];
	const url = new URL(proxy);
	url.pathname = `${url.pathname.replace(/\/$/, "")}/${name}/@v/${version}.zip`;
	let files: Record<string, Uint8Array>;
	try {
		const zip = await download(url, world.stop, onProgress);
		files = await unpacked(zip, world.stop);
	} catch (error) {
		orInterrupted(world.stop);
		// fetch itself says only that it failed.
		const { cause } = error as Error;
		const { HTTPS_PROXY, https_proxy } = world.env;
		const behind = HTTPS_PROXY || https_proxy;
		throw refuse(
			`${maskUserinfo(reasonOf(cause ?? error))}${behind ? "; HTTPS_PROXY is set, which Node does not use for this: name a GOPROXY that is reached without" : ""}`,
		);
	}
	if (hash1(files) !== wanted)
		throw refuse(`it is not what Go's checksum database says it is (${wanted})`);
	const part = `${folder}.part`;
	try {
		// A killed one has left it.
		await rm(part, { recursive: true, force: true });
		for (const [file, bytes] of Object.entries(files)) {
			world.stop.throwIfAborted();
			const inside = file.slice(module.length + 1);
			const to = path.join(part, inside);
			await mkdir(path.dirname(to), { recursive: true });
			await writeFile(to, bytes);
			// A module's zip has no modes.
			if (/^(?:bin|pkg\/tool)\//.test(inside)) await chmod(to, 0o755);
		}
		await rename(part, folder);
	} catch (error) {
		orInterrupted(world.stop);
		throw refuse(reasonOf(error));
	} finally {
		await rm(part, { recursive: true, force: true });
	}
}

/** How many times a signal is heard while 15 000 files are unpacked, which takes two seconds. */
const PARTS = 16;

/** The files of a zip, by name. */
async function unpacked(zip: Uint8Array, stop: AbortSignal): Promise<Record<string, Uint8Array>> {
	const files = {};
	for (let part = 0; part < PARTS; part++) {
		let at = 0;
		const filter = () => at++ % PARTS === part;
		Object.assign(files, unzipSync(zip, { filter }));
		await setImmediate();
		stop.throwIfAborted();
	}
	return files;
}

const HERE = platformName(process.platform, process.arch);
const MB = 1e6;

async function download(
	url: URL,
	stop: AbortSignal,
	onProgress: ToolchainOptions["onProgress"],
): Promise<Uint8Array> {
	if (url.protocol === "file:") return await readFile(fileURLToPath(url));
	const { username, password } = url;
	url.username = url.password = "";
	const login = [username, password].map(decodeURIComponent).join(":");
	const response = await fetch(url, {
		signal: stop,
		headers:
			username === "" ? {} : { authorization: `Basic ${Buffer.from(login).toString("base64")}` },
	});
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
