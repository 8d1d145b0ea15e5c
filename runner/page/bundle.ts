import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "rolldown";
import { packageFolder } from "../package.ts";

/** Makes dist/page (`npm run build`): scripts for reports, .svg files in Node and `--watch`, with the used parts of Apache ECharts. */
export async function bundle(folder = OUT): Promise<void> {
	mkdirSync(folder, { recursive: true });
	const write = (name: string, code: string) => {
		const file = path.join(folder, name);
		writeFileSync(`${file}.tmp`, code);
		renameSync(`${file}.tmp`, file);
	};
	write("page.js", await bundled("page/main.ts", "iife"));
	write("draw.js", await bundled("chart/svg.ts", "esm"));
	write("watch.js", await bundled("watch/client.ts", "iife", ""));
}

// --- internal ---

const OUT = path.join(packageFolder, "dist/page");

async function bundled(entry: string, format: "iife" | "esm", postBanner = notices()) {
	const { output } = await build({
		input: path.join(packageFolder, "runner", entry),
		platform: format === "iife" ? "browser" : "node",
		transform: { define: { "process.env.NODE_ENV": '"production"' } },
		write: false,
		output: { format, minify: true, comments: false, codeSplitting: false, postBanner },
	});
	return output[0].code;
}

/** Notices that the licences of the bundled libraries require. */
function notices(): string {
	const read = (name: string) =>
		readFileSync(path.join(packageFolder, "node_modules", name), "utf8").trim();
	const text = [
		"This script holds parts of these libraries.",
		read("echarts/NOTICE"),
		"Apache ECharts is licensed under the Apache License, Version 2.0: http://www.apache.org/licenses/LICENSE-2.0",
		`Of d3.js, in Apache ECharts:\n${read("echarts/licenses/LICENSE-d3")}`,
		`ZRender:\n${read("zrender/LICENSE")}`,
	].join("\n\n");
	return `/*!\n${text.replaceAll("*/", "* /")}\n*/`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await bundle();
