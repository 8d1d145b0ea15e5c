import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "rolldown";
import { packageFolder } from "./package.ts";

/**
 * Makes dist/runner/cli.js and the chunks beside it in dist/runner/cli/: the program with the libraries that it is made with, each command in
 * the files that it needs. A hundred modules and zod's own take longer to find and read than to run. Run by `npm run build`, after tsc, whose cli.js it
 * replaces.
 */
async function bundle(): Promise<void> {
	const { output } = await build({
		input: path.join(packageFolder, "runner", "cli.ts"),
		platform: "node",
		// One copy of each library, whether or not infra/aws has its packages installed.
		resolve: { modules: [path.join(packageFolder, "node_modules")] },
		write: false,
		// What one command loads late another one needs from its start.
		checks: { ineffectiveDynamicImport: false },
		output: {
			format: "esm",
			entryFileNames: "cli.js",
			chunkFileNames: "cli/[name]-[hash].js",
			// What many commands need is in few files: each takes time to find. Names in a stack are those of the sources.
			codeSplitting: {
				groups: [
					{ name: "package", test: /\/runner\/package\.ts$/, priority: 4 },
					{ name: "text", test: /\/runner\/text\//, priority: 3 },
					{ name: "brokers", test: /\/runner\/brokers\//, priority: 2 },
					{ name: "scenario", test: /\/runner\/scenario\//, priority: 1 },
				],
			},
			comments: false,
			minify: { compress: false, mangle: false, codegen: true },
			postFooter: ({ isEntry }) => (isEntry ? licences() : ""),
		},
	});
	const chunks = path.join(OUT, "cli");
	mkdirSync(chunks, { recursive: true });
	for (const { fileName, ...file } of output)
		if (file.type === "chunk") writeFileSync(path.join(OUT, fileName), file.code);
	const made = new Set(output.map(({ fileName }) => path.basename(fileName)));
	for (const old of readdirSync(chunks).filter((name) => !made.has(name)))
		rmSync(path.join(chunks, old));
}

// --- internal ---

const OUT = path.join(packageFolder, "dist", "runner");

/** What is part of it, and is told with each copy. */
const LIBRARIES = ["commander", "fflate", "yaml", "zod"];

function licences(): string {
	const texts = LIBRARIES.map((name) => {
		const folder = path.join(packageFolder, "node_modules", name);
		const text = readFileSync(path.join(folder, "LICENSE"), "utf8");
		return `${name}:\n${text.trim()}`;
	});
	return `/*\nThis program holds parts of these libraries.\n\n${texts.join("\n\n")}\n*/`;
}

await bundle();
