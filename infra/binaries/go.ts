import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { failure } from "../../runner/errors.ts";
import { interrupted } from "../../runner/stop.ts";
import { platformName } from "../platform.ts";
import { explainGo } from "./explain.ts";

/** How to run a Go command: our environment, without variables that would change the build. */
export interface GoOptions {
	readonly cwd: string;
	readonly env: Readonly<Record<string, string | undefined>>;
	/** The platform to build for, in Go's words ("linux/arm64"); absent: this machine. */
	readonly platform?: string;
	readonly stop: AbortSignal;
	onStdout?(line: string): void;
	onStderr?(line: string): void;
}

/** Runs `go <args>` to its end. On failure it throws one sentence: what went wrong, and what to do. */
export function go(args: readonly string[], options: GoOptions): Promise<void> {
	if (options.stop.aborted) return Promise.reject(interrupted(options.stop));
	return new Promise((resolve, reject) => {
		const tail: string[] = [];
		const child = spawn(process.execPath, ["-e", LEASH, "--", "go", ...args], {
			cwd: options.cwd,
			env: goEnvironment(options.env, options.platform),
			stdio: ["pipe", "pipe", "pipe"],
			// The terminal's Ctrl-C reaches only mqbench, which then closes the leash.
			detached: true,
		});
		child.stdin.on("error", () => {});
		for (const stream of ["stdout", "stderr"] as const)
			createInterface({ input: child[stream] }).on("line", (line) => {
				// Hundreds of package names (go build -v) must not displace the error.
				if (/\s/.test(line)) tail.push(line);
				if (tail.length > 200) tail.shift();
				if (stream === "stdout") options.onStdout?.(line);
				else options.onStderr?.(line);
			});
		const letGo = () => void child.stdin.destroy();
		options.stop.addEventListener("abort", letGo, { once: true });
		child.once("error", reject);
		// Only now is no process left that could write to the folder of the build.
		child.once("close", (code) => {
			options.stop.removeEventListener("abort", letGo);
			if (options.stop.aborted) reject(interrupted(options.stop));
			else if (code === NO_GO) reject(failure("go-missing", { why: "" }));
			else if (code !== 0) reject(explainGo(tail));
			else resolve();
		});
	});
}

/** Makes sure that there is a Go that can build the module, or that can fetch one. */
export async function checkGo(options: GoOptions): Promise<void> {
	const wanted = wantedGo(options.cwd);
	// Run outside of the module: an old Go cannot even read a go.mod that needs a newer one.
	const [version = "", toolchain = ""] = await goEnv(["GOVERSION", "GOTOOLCHAIN"], {
		...options,
		cwd: path.parse(options.cwd).root,
	});
	const canFetch = atLeast(version, "1.21") && !toolchain.startsWith("local");
	if (!atLeast(version, wanted) && !canFetch)
		throw failure("go-old", { found: version, wanted, toolchain: toolchain || "local" });
}

/** Version of the Go that builds the module ("go1.26.8"), which may be one that it fetched. */
export async function goVersion(options: GoOptions): Promise<string> {
	const [version = "unknown"] = await goEnv(["GOVERSION"], options);
	return version;
}

// --- internal ---

/** How long an interrupted Go may take to remove its temporary files. */
const GRACE_MS = 3_000;
/** The leash's exit code if Go cannot be started, as in a shell. */
const NO_GO = 127;

/**
 * A Go command runs on a leash: a small Node process that ends it, with its compilers, when our end of its standard input closes. So
 * kill -9 of mqbench leaves none behind. (agent does this for k6, but agent is what we are building.)
 */
const LEASH = `
const [command, ...args] = process.argv.slice(1);
const child = require("node:child_process").spawn(command, args, {
	stdio: ["ignore", "inherit", "inherit"],
	detached: process.platform !== "win32",
});
const end = (signal) => {
	try {
		if (process.platform === "win32") child.kill();
		else process.kill(-child.pid, signal);
	} catch {}
};
let loose = false;
child.once("error", () => process.exit(${NO_GO}));
child.once("exit", (code) => {
	if (loose) end("SIGKILL");
	process.exit(code ?? 1);
});
process.stdin.resume().once("close", () => {
	loose = true;
	end("SIGINT");
	setTimeout(() => end("SIGKILL"), ${GRACE_MS});
});
`;

async function goEnv(names: readonly string[], options: GoOptions): Promise<string[]> {
	const values: string[] = [];
	await go(["env", ...names], { ...options, onStdout: (line) => void values.push(line.trim()) });
	return values;
}

/** A static binary that runs on any machine of the platform, whatever the user's Go settings are. The user decides where modules come from. */
function goEnvironment(
	env: Readonly<Record<string, string | undefined>>,
	platform = platformName(process.platform, process.arch),
): Record<string, string | undefined> {
	const [system, processor] = platform.split("/");
	return {
		...env,
		CGO_ENABLED: "0",
		// Not empty: with an empty variable Go would use what `go env -w` has stored.
		GOFLAGS: "-mod=readonly",
		GOWORK: "off",
		GOOS: system,
		GOARCH: processor,
		// Go's defaults: a binary for a newer processor would not run on every host.
		GOAMD64: "v1",
		GOARM64: "v8.0",
	};
}

function wantedGo(extensions: string): string {
	const text = readFileSync(path.join(extensions, "go.mod"), "utf8");
	return /^go (\d+\.\d+)/m.exec(text)?.[1] ?? "1.26";
}

function atLeast(version: string, wanted: string): boolean {
	const numbers = (text: string) => (text.match(/\d+/g) ?? []).map(Number);
	const [major = 0, minor = 0] = numbers(version);
	const [wantedMajor = 0, wantedMinor = 0] = numbers(wanted);
	return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}
