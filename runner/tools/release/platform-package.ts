import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { build, buildKey } from "../../../infra/programs/build.ts";
import { Manifest } from "../../../infra/programs/packed.ts";
import { ALL_DRIVERS, FIRST, type Platform, programIn } from "../../../infra/programs/programs.ts";
import { packageFolder } from "../../package.ts";

/** One k6 with all drivers replaces both builds of it. */
const PROGRAMS = FIRST.map(
	(program) => ALL_DRIVERS.find(({ name }) => name === program.name) ?? program,
);

/**
 * Makes the folder of a platform's package, ready for npm: programs, manifest.json, a bill of materials, licences. `parts` is the program
 * that lists the programs' modules.
 */
export async function makePlatformPackage(
	platform: Platform,
	{
		version,
		folder,
		parts,
		env,
		stop,
		onProgress = () => {},
	}: {
		readonly version: string;
		readonly folder: string;
		readonly parts: string;
		readonly env: NodeJS.ProcessEnv;
		readonly stop: AbortSignal;
		onProgress?(phase: string, done: number, all: number): void;
	},
): Promise<Manifest> {
	const extensions = path.join(packageFolder, "extensions");
	const bin = path.join(folder, "bin");
	await rm(folder, { recursive: true, force: true });
	await mkdir(bin, { recursive: true });
	const built = await build({
		programs: PROGRAMS,
		cwd: extensions,
		folder: bin,
		version,
		platform,
		env,
		stop,
		onProgress,
	});
	const programs = PROGRAMS.map(({ name }) => programIn(bin, name, platform));
	for (const program of programs) await chmod(program, 0o755);
	const { stdout } = await promisify(execFile)(parts, ["-out", folder, extensions, ...programs], {
		maxBuffer: 1 << 24,
		env,
	});
	const key = (programs: typeof FIRST) => buildKey(extensions, version, platform, programs);
	const manifest = Manifest.parse({
		schema: 1,
		mqbench: version,
		platform: platform.name,
		go: built.go,
		builds: [key(FIRST), key(ALL_DRIVERS)],
		sha256: built.sha256,
		modules: JSON.parse(stdout),
	});
	const json = (value: unknown) => `${JSON.stringify(value, null, "\t")}\n`;
	const write = (name: string, text: string) => writeFile(path.join(folder, name), text);
	await write("manifest.json", json(manifest));
	await write("package.json", json(packageOf(platform, version)));
	await write("README.md", readmeOf(platform, manifest));
	await copyFile(path.join(packageFolder, "LICENSE"), path.join(folder, "LICENSE-mqbench.txt"));
	return manifest;
}

// --- internal ---

function packageOf({ system, processor, packageName }: Platform, version: string): object {
	return {
		name: packageName,
		version,
		description: `mqbench's load generator for ${system}-${processor}: k6 with all drivers, nats-server, agent`,
		license: "AGPL-3.0-only",
		repository: { type: "git", url: "git+https://github.com/mqbench/mqbench.git" },
		os: [system],
		cpu: [processor],
		// Yarn keeps packages in archives, from which nothing can be run.
		preferUnplugged: true,
	};
}

function readmeOf(
	{ packageName, system, processor }: Platform,
	{ mqbench, go, modules }: Manifest,
): string {
	const licences = new Map<string, number>();
	for (const { licence } of modules) licences.set(licence, (licences.get(licence) ?? 0) + 1);
	const rows = [...licences]
		.sort(([, a], [, b]) => b - a)
		.map(([licence, n]) => `| ${licence} | ${n} |`);
	return `# ${packageName}

Programs of mqbench ${mqbench} for ${system}-${processor}. Install \`mqbench\`, which takes this package along.

| program | |
|---|---|
| \`bin/k6\` | k6 with mqbench's extensions and all drivers |
| \`bin/nats-server\` | for scenarios with an embedded NATS |
| \`bin/agent\` | runs brokers and k6, and ends them when mqbench is gone |

Built with ${go} from \`extensions/\` of mqbench's tag v${mqbench}, static, without CGO. \`manifest.json\` has the sha256 of each, which mqbench
checks before it runs one, and every Go module that is linked in with its version and \`h1:\` sum; \`sbom.cdx.json\` is the same as CycloneDX.
The same bytes come of \`npm run release -- ${mqbench}\` in that tag.

## Licences

k6 is under the AGPL-3.0, and so is the program that is linked with it: the sources of all of it are the tag v${mqbench} and the modules in
\`manifest.json\`, from any proxy of Go modules. The texts of all licences are in \`THIRD-PARTY.txt\`; mqbench's own parts are under
the Apache License 2.0 (\`LICENSE-mqbench.txt\`).

| licence | modules |
|---|---|
${rows.join("\n")}
`;
}
