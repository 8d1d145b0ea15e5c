import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { failure } from "../../runner/errors.ts";

/** How a Go command is run: its environment is ours with what would change the build taken out. */
export interface GoOptions {
	readonly cwd: string;
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly stop: AbortSignal;
	onStdout?(line: string): void;
	onStderr?(line: string): void;
}

/** Exit code and the last lines of both streams of a Go command. */
export interface GoResult {
	readonly code: number;
	readonly tail: readonly string[];
}

/** Runs `go <args>` to its end. Throws "interrupted" when `stop` ends it, "go-missing" when there is no Go. */
export function go(
	args: readonly string[],
	options: GoOptions,
): Promise<GoResult> {
	return new Promise((resolve, reject) => {
		const tail: string[] = [];
		const keep = (line: string) => {
			tail.push(line);
			if (tail.length > 200) tail.shift();
		};
		const child = spawn("go", [...args], {
			cwd: options.cwd,
			env: goEnvironment(options.env),
			stdio: ["ignore", "pipe", "pipe"],
			signal: options.stop,
		});
		for (const stream of ["stdout", "stderr"] as const)
			createInterface({ input: child[stream] }).on("line", (line) => {
				keep(line);
				if (stream === "stdout") options.onStdout?.(line);
				else options.onStderr?.(line);
			});
		child.once("error", (error: NodeJS.ErrnoException) => {
			if (options.stop.aborted)
				reject(failure("interrupted", { signal: String(options.stop.reason) }));
			else if (error.code === "ENOENT") reject(failure("go-missing", {}));
			else reject(error);
		});
		child.once("close", (code) => resolve({ code: code ?? 1, tail }));
	});
}

/**
 * Makes sure that there is a Go that can build the module, or one that fetches such a one by itself, and returns its
 * version ("go1.26.8").
 */
export async function checkGo(options: GoOptions): Promise<string> {
	const wanted = wantedGo(options.cwd);
	// Outside of the module: an old Go cannot even read a go.mod that asks for a newer one.
	const { tail } = await go(["env", "GOVERSION", "GOTOOLCHAIN"], {
		...options,
		cwd: path.parse(options.cwd).root,
	});
	const [found = "", toolchain = ""] = tail.map((line) => line.trim());
	const canFetch = atLeast(found, "1.21") && !toolchain.startsWith("local");
	if (!atLeast(found, wanted) && !canFetch)
		throw failure("go-old", { found, wanted, toolchain });
	return found;
}

// --- internal ---

function goEnvironment(
	env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
	return {
		...env,
		// A static binary, the same on every machine, whatever the user's own Go settings are.
		CGO_ENABLED: "0",
		GOFLAGS: "",
		GOWORK: "off",
		GOOS: "",
		GOARCH: "",
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
