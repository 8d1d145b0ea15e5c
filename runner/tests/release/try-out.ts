import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Who installs, in an empty folder, from a registry; in the versions that people have. */
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

/** What a first user sees. */
export interface TriedOut {
	/** Until it was installed, and from there to the verdict; then another run, of 1 s. */
	readonly installSeconds: number;
	readonly verdictSeconds: number;
	readonly origin: string;
	readonly verdict: string;
}

/**
 * Installs mqbench into an empty project and runs the quickstart there, without Go on PATH and without a cache. Throws where anything of it fails.
 */
export function tryOut(
	installer: Installer,
	{
		folder,
		registry,
		version,
		scenario,
	}: {
		readonly folder: string;
		readonly registry: string;
		readonly version: string;
		/** Arguments of mqbench after the scenario's file, to make it short. */
		readonly scenario: readonly string[];
	},
): TriedOut {
	mkdirSync(folder, { recursive: true });
	const write = (name: string, text: string) =>
		writeFileSync(path.join(folder, name), text);
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
	const home = path.join(folder, ".home");
	mkdirSync(home);
	const env = {
		PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`,
		HOME: home,
		npm_config_cache: path.join(home, "npm"),
		MQBENCH_CACHE_DIR: path.join(home, "mqbench"),
		npm_config_registry: registry,
	};
	if (spawnSync("go", ["version"], { env }).error === undefined)
		throw new Error("there is a Go on PATH, which this is to do without");
	const run = ([command, ...args]: readonly string[]): string => {
		try {
			return execFileSync(command as string, args, {
				...{ cwd: folder, env, encoding: "utf8", maxBuffer: 1 << 26 },
				stdio: ["ignore", "pipe", "pipe"],
			});
		} catch (error) {
			const { stdout, stderr } = error as { stdout: string; stderr: string };
			throw new Error(
				`${installer}: ${[command, ...args].join(" ")}:\n${stdout}\n${stderr}`,
			);
		}
	};
	const { add, run: exec } = INSTALLERS[installer];
	// The installer itself is not what is timed.
	if (add[0] === "npx") run([...exec.slice(0, 3), "--version"]);
	const began = performance.now();
	run([...add, `mqbench@${version}`]);
	const installed = performance.now();
	run([...exec, "mqbench", "init", "-y", "quickstart"]);
	run([...exec, "mqbench", "quickstart.yaml", ...scenario, "--out", "out"]);
	const ended = performance.now();
	const result = JSON.parse(
		readFileSync(path.join(folder, "out", "result.json"), "utf8"),
	);
	const seconds = (ms: number) => Math.round(ms / 100) / 10;
	return {
		installSeconds: seconds(installed - began),
		verdictSeconds: seconds(ended - installed),
		origin: result.environment.programs,
		verdict: result.verdict,
	};
}
