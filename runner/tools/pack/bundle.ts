import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "rolldown";
import { packageFolder } from "../../package.ts";

/** Bundles dist/runner/cli.js and dist/runner/cli/ with all libraries: finding a hundred modules takes longer than running them. */
async function bundle(): Promise<void> {
	const { output } = await build({
		input: path.join(packageFolder, "runner", "cli.ts"),
		platform: "node",
		// One copy of each library, whether or not infra/aws has its packages installed.
		resolve: { modules: [path.join(packageFolder, "node_modules")] },
		write: false,
		// One command loads a module late that another needs at its start.
		checks: { ineffectiveDynamicImport: false },
		output: {
			format: "esm",
			entryFileNames: "cli.js",
			chunkFileNames: "cli/[name]-[hash].js",
			// Few shared files, because each takes time to find. Stacks show the sources' names.
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
