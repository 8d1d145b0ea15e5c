import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type BareDebian, commandIn } from "./bare-debian.ts";

/** Installers, in an empty folder, from a registry; in their common versions. */
export const INSTALLERS = {
	npm: { add: ["npm", "install", "--save-dev"], run: ["npx"] },
	pnpm: {
		add: ["npx", "--yes", "pnpm@12.21.0", "add", "--save-dev"],
		run: ["npx", "--yes", "pnpm@12.21.0", "exec"],
	},
	"yarn 1": {
		add: ["npx", "--yes", "yarn@1.22.22", "add", "--dev"],
		run: ["npx", "--yes", "yarn@1.22.22", "run"],
	},
	"yarn 4": {
		add: ["npx", "--yes", "@yarnpkg/cli-dist@4.18.1", "add", "--dev"],
		run: ["npx", "--yes", "@yarnpkg/cli-dist@4.18.1", "run"],
	},
} as const;
export type Installer = keyof typeof INSTALLERS;

/** A first user's experience. */
export interface TriedOut {
	/** Until the installation, and from there to the verdict; then another run, of 1 s. */
	readonly installSeconds: number;
	readonly verdictSeconds: number;
	readonly origin: string;
	readonly verdict: string;
}

export interface TryOut {
	/** An empty folder to be made. */
	readonly folder: string;
	readonly registry: string;
	readonly version: string;
	/** Shortened, and judged only by losses: a shared machine may be slow. */
	readonly short: boolean;
	/** A system in a folder, whose own programs are used; this one if left out. */
	readonly within?: Pick<BareDebian, "root" | "enter">;
}

/** Installs mqbench into an empty project and runs the quickstart there, without Go on PATH and without a cache. Throws on any failure. */
export function tryOut(installer: Installer, asked: TryOut): TriedOut {
	const { version, short } = asked;
	const run = emptyProject(installer, asked);
	const { add, run: exec } = INSTALLERS[installer];
	// The installer itself is not timed.
	if (add[0] === "npx") run([...exec.slice(0, 3), "--version"]);
	const began = performance.now();
	run([...add, `mqbench@${version}`]);
	const installed = performance.now();
	run([...exec, "mqbench", "init", "-y", "quickstart"]);
	if (short) run(["sed", "-i", "/p99/d", "quickstart.yaml"]);
	const how = short ? ["--quick", "--on-inconclusive", "pass"] : [];
	run([
		// Other programs on the machine rightly make it INVALID.
		...(short ? ["sh", "-c", '"$@" || [ $? = 4 ]', "sh"] : []),
		...exec,
		"mqbench",
		"quickstart.yaml",
		...how,
		"--out",
		"out",
	]);
	const ended = performance.now();
	const result = JSON.parse(readFileSync(path.join(asked.folder, "out", "result.json"), "utf8"));
	const seconds = (ms: number) => Math.round(ms / 100) / 10;
	return {
		installSeconds: seconds(installed - began),
		verdictSeconds: seconds(ended - installed),
		origin: result.environment.programs,
		verdict: result.verdict,
	};
}

/** Makes an empty project, and returns a function that runs commands in it with only Node and the installer. */
export function emptyProject(
	installer: Installer,
	{ folder, registry, within }: Pick<TryOut, "folder" | "registry" | "within">,
): (command: readonly string[]) => string {
	const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
	mkdirSync(path.join(folder, ".home"), { recursive: true });
	write("package.json", '{"name":"somebody","private":true}\n');
	write(".npmrc", `registry=${registry}\n`);
	write(".yarnrc", `registry "${registry}"\n`);
	if (installer === "yarn 4") {
		write("yarn.lock", "");
		write(
			".yarnrc.yml",
			`npmRegistryServer: "${registry}"\nunsafeHttpWhitelist: ["127.0.0.1"]\nenableGlobalCache: false\nenableTelemetry: false\nnpmMinimalAgeGate: 0\n`,
		);
	}
	const cwd = within ? `/${path.relative(within.root, folder)}` : folder;
	const home = path.join(cwd, ".home");
	const env = {
		PATH: within ? "/usr/bin:/bin" : `${path.dirname(process.execPath)}:/usr/bin:/bin`,
		HOME: home,
		npm_config_cache: path.join(home, "npm"),
		MQBENCH_CACHE_DIR: path.join(home, "mqbench"),
		npm_config_registry: registry,
	};
	const run = (command: readonly string[]): string => {
		const [program = "", ...args] = within ? commandIn(within, cwd, env, command) : command;
		try {
			return execFileSync(program, args, {
				encoding: "utf8",
				maxBuffer: 1 << 26,
				stdio: ["ignore", "pipe", "pipe"],
				...(within ? {} : { cwd, env }),
			});
		} catch (error) {
			const { stdout, stderr } = error as { stdout: string; stderr: string };
			throw new Error(`${installer}: ${command.join(" ")}:\n${stdout}\n${stderr}`);
		}
	};
	if (run(["sh", "-c", "command -v go || true"]) !== "")
		throw new Error("there is a Go on PATH, which this is to do without");
	return run;
}
