import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Figure, View } from "../chart/figure.ts";
import { firstView } from "../chart/option.ts";
import { failure } from "../errors.ts";
import { glob } from "../model/glob.ts";
import type { Result } from "../model/result.ts";
import { packageFolder } from "../package.ts";
import { writeWhole } from "../result/whole-file.ts";
import { figuresOf, MOST } from "./figures.ts";

export type Theme = "light" | "dark";

interface PicturesArgs {
	/** Charts go to `out`, else to svg/ in here. */
	readonly folder: string;
	readonly out: string | undefined;
	readonly theme: Theme;
	/** A glob over ids. */
	readonly only: string;
}

/** `mqbench report --svg`: one file for each chart. Returns their paths, in the report's order. */
export async function writePictures(
	result: Result,
	{ folder, out, theme, only }: PicturesArgs,
): Promise<string[]> {
	const all = figuresOf(result, MOST);
	const matches = glob(only);
	const chosen = all.filter(({ id }) => matches.test(id));
	if (chosen.length === 0 && (all.length > 0 || only !== "*"))
		throw failure("no-such-picture", { only, ids: all.map(({ id }) => id) });
	const where = out ?? path.join(folder, "svg");
	const files: string[] = [];
	for (const figure of chosen) {
		const file = path.join(where, `${figure.id}${theme === "dark" ? "-dark" : ""}.svg`);
		const svg = await drawSvg(figure, firstView(figure, theme));
		writeWhole(file, `${svg}\n`, folder);
		files.push(file);
	}
	return files;
}

/** Draws with the output of `npm run build` (page/bundle.ts), which sources and dist/ find alike. */
export async function drawSvg(figure: Figure, view: View): Promise<string> {
	const file = path.join(packageFolder, "dist", "page", "draw.js");
	let drawer: { svgOf(figure: Figure, view: View): string };
	try {
		drawer = await import(pathToFileURL(file).href);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code !== "ENOENT" && code !== "ERR_MODULE_NOT_FOUND") throw error;
		throw failure("unbuilt", { file });
	}
	return drawer.svgOf(figure, view);
}
