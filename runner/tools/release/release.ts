/**
 * Makes a release: packages of mqbench and of all platforms, from a clone of the commit, tried out from a registry of this machine.
 *
 *   npm run release -- 0.2.0                    its files stay in release/0.2.0/
 *   npm run release -- 0.2.0 --only linux-x64   one platform
 *
 * It publishes nothing: .github/workflows/release.yml does, in a job that runs none of this.
 */
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { sha256OfFile } from "../../sha256.ts";
import { formatBytes } from "../../units.ts";
import { makeInClone } from "./make-in-clone.ts";
import { openRegistry } from "./registry.ts";
import { INSTALLERS, type Installer, tryOut } from "./try-out.ts";

/** Largest downloads: mqbench's own package, and a platform's. */
const MOST_OWN = 3e6;
const MOST_OF_PLATFORM = 40e6;

const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		/** Platforms, "linux-x64"; else all. */
		only: { type: "string", multiple: true, default: [] },
		/** Where it is made; else release/<version>. */
		out: { type: "string" },
	},
});
const [version = ""] = positionals;
if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
	refuse("Name the version: npm run release -- 0.2.0");
await release();

// --- internal ---

async function release(): Promise<void> {
	const out = path.resolve(values.out ?? path.join("release", version));
	// Files there may not be ours.
	if (existsSync(out) && readdirSync(out).length > 0)
		refuse(`${out} is not empty: remove it, or choose another folder with --out`);
	mkdirSync(out, { recursive: true });
	say(`A clone of what is committed, as ${version}, and the programs of all platforms`);
	const source = path.join(out, "source");
	const made = makeInClone(version, { source, out: path.join(out, "packages"), only: values.only });
	const sums: string[] = [];
	for (const { name, file, seconds } of made) {
		const { size } = statSync(file);
		const most = name === "mqbench" ? MOST_OWN : MOST_OF_PLATFORM;
		say(`  ${name}: ${formatBytes(size)} packed, made in ${seconds} s`);
		if (size > most) throw new Error(`${name} is larger than ${formatBytes(most)}`);
		sums.push(await sumOf(file));
	}
	writeFileSync(path.join(out, "packages", "SHA256SUMS"), `${sums.join("\n")}\n`);
	const registry = await openRegistry(path.join(out, "registry"));
	try {
		for (const { file } of made) registry.publish(file);
		for (const installer of Object.keys(INSTALLERS) as Installer[]) {
			const tried = tryOut(installer, {
				registry: registry.url,
				version,
				short: false,
				folder: path.join(out, "try", installer.replace(" ", "-")),
			});
			say(
				`  ${installer}: installed in ${tried.installSeconds} s, a verdict (${tried.verdict}) after ${tried.verdictSeconds} s more, by the ${tried.origin}`,
			);
			const own = `package @mqbench/${process.platform}-${process.arch} ${version}`;
			if (tried.origin !== own) throw new Error(`${installer}: programs are not of the ${own}`);
		}
	} finally {
		registry.close();
	}
	// The registry's 300 packages have handled the files.
	for (const { name, file } of made)
		if (!sums.includes(await sumOf(file))) throw new Error(`${name} is not what was made`);
	say(`The packages of ${version} are in ${path.join(out, "packages")}`);
}

function refuse(why: string): never {
	process.stderr.write(`${why}\n`);
	process.exit(2);
}

async function sumOf(file: string): Promise<string> {
	return `${await sha256OfFile(file)}  ${path.basename(file)}`;
}

function say(text: string): void {
	process.stdout.write(`${text}\n`);
}
