import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Figure, View } from "../chart/figure.ts";
import { firstView } from "../chart/option.ts";
import { failure } from "../errors.ts";
import { glob } from "../model/glob.ts";
import type { Result } from "../model/result.ts";
import { packageFolder } from "../package.ts";
import { makeRoom, writeWhole } from "../result/whole-file.ts";
import { figuresOf, MOST } from "./figures.ts";

export type Theme = "light" | "dark";

interface PicturesArgs {
	/** Where the run is; pictures go to svg/ or png/ in it, or to `out`. */
	readonly folder: string;
	readonly format: "svg" | "png";
	readonly out: string | undefined;
	readonly theme: Theme;
	/** A glob over their names. */
	readonly only: string;
}

/** `mqbench report --svg` and `--png`: every picture of a report as a file of its own. Gives their paths, in the order of the report. */
export async function writePictures(
	result: Result,
	{ folder, format, out, theme, only }: PicturesArgs,
): Promise<string[]> {
	const all = figuresOf(result, MOST);
	const matches = glob(only);
	const chosen = all.filter(({ id }) => matches.test(id));
	if (chosen.length === 0 && (all.length > 0 || only !== "*"))
		throw failure("no-such-picture", { only, ids: all.map(({ id }) => id) });
	const where = out ?? path.join(folder, format);
	makeRoom(where, folder);
	const files: string[] = [];
	for (const figure of chosen) {
		const file = path.join(where, `${figure.id}${theme === "dark" ? "-dark" : ""}.${format}`);
		const svg = await drawSvg(figure, firstView(figure, theme));
		const picture = format === "svg" ? `${svg}\n` : await pngOf(svg);
		writeWhole(file, picture, folder);
		files.push(file);
	}
	return files;
}

/** A picture on its own, as SVG, by what `npm run build` has made (page/bundle.ts): found from the sources as from dist/. */
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

// --- internal ---

/**
 * A picture of twice the pixels of its SVG, with the fonts of the machine. By resvg, which is not installed with mqbench: it is 4 MB for
 * something that few ask for. Without it: a failure that says what to install.
 */
async function pngOf(svg: string): Promise<Uint8Array> {
	const { Resvg } = await resvg();
	return new Resvg(svg, { fitTo: { mode: "zoom", value: 2 } }).render().asPng();
}

async function resvg() {
	try {
		return await import("@resvg/resvg-js");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND")
			throw failure("no-png", {});
		throw error;
	}
}
