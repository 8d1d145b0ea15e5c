import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import rewritePattern from "regexpu-core";
import { build } from "rolldown";
import { packageFolder, packageVersion } from "../package.ts";

/** Makes dist/inside-k6.js: schema, planner, verdict and report for k6's own scripts, after host.ts for Node. Run by `npm run build`. */
export async function bundle(file = OUT): Promise<void> {
	const parts = [await bundled("host.ts"), await bundled("words.ts")];
	mkdirSync(path.dirname(file), { recursive: true });
	writeFileSync(`${file}.tmp`, parts.join("\n"));
	renameSync(`${file}.tmp`, file);
}

// --- internal ---

const OUT = path.join(packageFolder, "dist/inside-k6.js");
/** The package has no files there. */
const PACKAGE = `export const packageFolder = "";
export const packageVersion = ${JSON.stringify(packageVersion)};`;

async function bundled(entry: string): Promise<string> {
	const { output } = await build({
		input: path.join(packageFolder, "runner/inside-k6", entry),
		platform: "neutral",
		external: [/^node:/],
		resolve: { mainFields: ["module", "main"], conditionNames: ["import", "default"] },
		plugins: [
			{
				name: "package",
				load: (id) => (id === path.join(packageFolder, "runner/package.ts") ? PACKAGE : null),
				renderChunk(code) {
					const changes = patterns(this.parse(code));
					return changes.reduceRight(
						(left, { start, end, text }) => left.slice(0, start) + text + left.slice(end),
						code,
					);
				},
			},
		],
		transform: { target: "es2022" },
		write: false,
		output: {
			format: "iife",
			// Something that host.ts lacks fails only when it is called.
			globals: (id) => `(globalThis.${id.replaceAll(/[:/]/g, "_")} ?? {})`,
			minify: true,
			comments: false,
			codeSplitting: false,
		},
	});
	return output[0].code;
}

interface Change {
	readonly start: number;
	readonly end: number;
	readonly text: string;
}

/** Sobek reads \p{L} as the letters of its name, and has no named groups. Neither would fail visibly. */
function patterns(node: unknown, changes: Change[] = []): Change[] {
	if (typeof node !== "object" || node === null) return changes;
	const { regex, start, end } = node as {
		regex?: { pattern: string; flags: string } | null;
		start: number;
		end: number;
	};
	if (regex?.pattern.includes("(?<") && /\(\?<[^=!]/.test(regex.pattern))
		throw new Error(`Sobek has no named groups: /${regex.pattern}/`);
	if (regex && /\\p\{/i.test(regex.pattern)) {
		const written = rewritePattern(regex.pattern, regex.flags, {
			unicodePropertyEscapes: "transform",
		});
		changes.push({ start, end, text: `/${written}/${regex.flags}` });
		return changes;
	}
	for (const child of Object.values(node)) patterns(child, changes);
	return changes;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await bundle();
