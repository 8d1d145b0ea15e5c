import path from "node:path";
import { pathToFileURL } from "node:url";
import { failure } from "../errors.ts";
import { packageFolder } from "../package.ts";
import type { Figure, View } from "./old-figure.ts";

/** A picture on its own, as SVG, by what `npm run build` has made (page/bundle.ts): found from the sources as from dist/. */
export async function drawSvg(figure: Figure, view: View): Promise<string> {
	const file = path.join(packageFolder, "dist", "page", "draw.js");
	let drawer: { pictureOf(figure: Figure, view: View): string };
	try {
		drawer = await import(pathToFileURL(file).href);
	} catch (error) {
		throw unbuilt(file, error);
	}
	return drawer.pictureOf(figure, view);
}

// --- internal ---

function unbuilt(file: string, error: unknown): Error {
	const code = (error as NodeJS.ErrnoException).code;
	if (code !== "ENOENT" && code !== "ERR_MODULE_NOT_FOUND") throw error;
	return failure("unbuilt", { file });
}
