import { readFileSync } from "node:fs";
import path from "node:path";
import { failure, type MqbenchError } from "../../runner/errors.ts";
import { maskUserinfo } from "../../runner/secrets.ts";
import { HERE, type Platform } from "./programs.ts";
import { runTool, type ToolOptions } from "./tool.ts";

export interface GoOptions extends ToolOptions {
	/** The platform to build for; if absent, this machine's. */
	readonly platform?: Platform;
}

/** Runs `go <args>` to its end, without variables that would change the build. On failure it throws one sentence with a remedy. */
export async function go(args: readonly string[], options: GoOptions): Promise<void> {
	const env = goEnvironment(options.env, options.platform);
	const { code, tail } = await runTool(["go", ...args], { ...options, env });
	if (code === 127) throw failure("go-missing", { why: "" });
	if (code !== 0) throw explained(tail.map(plain));
}

/** Makes sure that there is a Go that can build the module, or that can fetch one. */
export async function checkGo(options: GoOptions): Promise<void> {
	const module = readFileSync(path.join(options.cwd, "go.mod"), "utf8");
	const wanted = /^go (\d+\.\d+)/m.exec(module)?.[1] ?? "1.26";
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

async function goEnv(names: readonly string[], options: GoOptions): Promise<string[]> {
	const values: string[] = [];
	await go(["env", ...names], { ...options, onStdout: (line) => void values.push(line.trim()) });
	return values;
}

/** A static binary that runs on any machine of the platform, whatever the user's Go settings are. The user decides where modules come from. */
function goEnvironment(env: GoOptions["env"], { name }: Platform = HERE): GoOptions["env"] {
	const [system, processor] = name.split("/");
	return {
		// The compiler collects its own garbage less often: k6 takes 6 % less time, and 670 MB at most where it took 520.
		GOGC: "400",
		...env,
		CGO_ENABLED: "0",
		// Not empty: with an empty variable Go would use the value stored by `go env -w`.
		GOFLAGS: "-mod=readonly",
		GOWORK: "off",
		GOOS: system,
		GOARCH: processor,
		// Go's defaults: a binary for a newer processor would not run on every host.
		GOAMD64: "v1",
		GOARM64: "v8.0",
	};
}

function atLeast(version: string, wanted: string): boolean {
	const numbers = (text: string) => (text.match(/\d+/g) ?? []).map(Number);
	const [major = 0, minor = 0] = numbers(version);
	const [wantedMajor = 0, wantedMinor = 0] = numbers(wanted);
	return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

/** Turns the last lines that Go printed into a sentence with a remedy. */
function explained(tail: readonly string[]): MqbenchError {
	const text = tail.join("\n");
	// A proxy's URL may hold a password.
	const last = maskUserinfo(tail.slice(-20).join("\n"));
	if (/no space left on device|disk quota exceeded/i.test(text))
		return failure("build-disk-full", { where: "the Go cache or the cache folder of mqbench" });
	if (/checksum mismatch|SECURITY ERROR/.test(text)) return failure("go-sum", { last });
	const network = tail.find((line) => NETWORK.test(line));
	if (network !== undefined) return failure("go-proxy", { last: maskUserinfo(network.trim()) });
	return failure("go-build", { last });
}

/** `go mod download -json` reports failures in a field: `"Error": "..."`. */
function plain(line: string): string {
	const quoted = /^\s*"Error": (".*"),?$/.exec(line)?.[1];
	if (quoted === undefined) return line;
	try {
		return String(JSON.parse(quoted));
	} catch {
		return line;
	}
}

/** Go's output when a proxy does not answer or does not have the module. */
const NETWORK =
	/dial tcp|no such host|connection refused|i\/o timeout|TLS handshake|x509:|module lookup disabled|toolchain not available|proxyconnect|refusing to pass credentials|(?:reading|Get) "?https?:.*(?:EOF|: [45]\d\d )/i;
