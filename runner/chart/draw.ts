import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { failure } from "../errors.ts";
import { packageFolder } from "../package.ts";
import type { Figure, View } from "./old-figure.ts";

/** What `npm run build` has made of the charts (bundle.ts), for whoever writes reports: found from the sources as from dist/. */

/** The script of every page, for a <script> element: it holds no "</script". */
export function pageScript(): string {
	page ??= read("page.js");
	return page;
}

/** A picture on its own, as SVG. */
export async function drawSvg(figure: Figure, view: View): Promise<string> {
	const file = bundled("draw.js");
	let drawer: { pictureOf(figure: Figure, view: View): string };
	try {
		drawer = await import(pathToFileURL(file).href);
	} catch (error) {
		throw unbuilt(file, error);
	}
	return drawer.pictureOf(figure, view);
}

// --- internal ---

let page: string | null = null;

function bundled(name: string): string {
	return path.join(packageFolder, "dist", "page", name);
}

function read(name: string): string {
	const file = bundled(name);
	try {
		return readFileSync(file, "utf8");
	} catch (error) {
		throw unbuilt(file, error);
	}
}

function unbuilt(file: string, error: unknown): Error {
	const code = (error as NodeJS.ErrnoException).code;
	if (code !== "ENOENT" && code !== "ERR_MODULE_NOT_FOUND") throw error;
	return failure("unbuilt", { file });
}
