import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "rolldown";
import { packageFolder } from "../package.ts";

/**
 * Makes dist/page: `page.js`, the script that every report holds, `draw.js`, which makes .svg files in Node, and `watch.js`, which shows the
 * current seconds of a run. Charts are those of Apache ECharts, of which only the used parts are taken: whoever installs
 * mqbench does not need it. Run by `npm run build`.
 */
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

/** What the licences of the bundled libraries want to be told along with them. */
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
