// Gets mqbench, and says where it is and what its caches are called. Values come by the environment, never by a shell's text.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from "node:fs";
import path from "node:path";

const env = process.env;
const folder = env.INPUT_VERSION === "local" ? local() : fromNpm();
const cli = path.join(folder, "dist", "runner", "cli.js");
const { programs, cache } = JSON.parse(
	execFileSync(process.execPath, [cli, "--version", "--json"], { encoding: "utf8" }),
);
// With the package of this platform everything is built: neither Go nor a cache of builds is needed.
const packed = programs.from === "package";
const lines = Object.entries({ cli, packed, ...caches(folder, cache) });
appendFileSync(env.GITHUB_OUTPUT, lines.map(([name, value]) => `${name}=${value}\n`).join(""));

// --- internal ---

/** The repository that this action was fetched with: its commit pins mqbench too. */
function local() {
	const root = path.resolve(env.GITHUB_ACTION_PATH, "..", "..", "..");
	if (!existsSync(path.join(root, "dist", "runner", "cli.js")))
		npm(["ci", "--no-audit", "--no-fund"], root);
	return root;
}

function fromNpm() {
	const version = env.INPUT_VERSION;
	// No paths, no URLs, no other package's name: what npm would also take after the @.
	if (!/^[0-9A-Za-z][0-9A-Za-z.+-]*$/.test(version)) {
		process.stderr.write(
			`version is "local", a version of mqbench on npm like 1.2.3, or a tag like latest; got ${JSON.stringify(version)}.\n`,
		);
		process.exit(2);
	}
	const root = mkdtempSync(path.join(env.RUNNER_TEMP, "mqbench-npm-"));
	npm(
		[
			"install",
			"--no-audit",
			"--no-fund",
			"--no-save",
			// It needs none; whoever gets one into a package of the tree would run it here.
			"--ignore-scripts",
			"--prefix",
			root,
			`mqbench@${version}`,
		],
		root,
	);
	return path.join(root, "node_modules", "mqbench");
}

function npm(args, cwd) {
	const windows = process.platform === "win32";
	execFileSync(windows ? "npm.cmd" : "npm", args, {
		cwd,
		shell: windows,
		stdio: ["ignore", "inherit", "inherit"],
	});
}

/**
 * Folders and keys. `bin` is named by mqbench itself: a hash of the Go sources, the flags and the platform; Go's version
 * stands in the key only, as equal sources are the same build for mqbench. Jars depend on the versions that a scenario asks for.
 */
function caches(root, { folder, build }) {
	const jars = createHash("sha256")
		.update(readFileSync(path.join(root, "runner", "brokers", "kafka", "pom.xml")))
		.update(existsSync(env.INPUT_SCENARIO) ? readFileSync(env.INPUT_SCENARIO) : "")
		.update(env.INPUT_ARGS);
	const go = env.INPUT_GO_VERSION || "path";
	return {
		bin: path.join(folder, "bin", build),
		"bin-key": `mqbench-bin-${process.platform}-${process.arch}-go${go}-${build}`,
		jars: path.join(folder, "jars"),
		"jars-key": `mqbench-jars-${jars.digest("hex").slice(0, 16)}`,
	};
}
