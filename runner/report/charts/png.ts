import { failure } from "../../errors.ts";

/**
 * A picture of twice the pixels of its SVG, with the fonts of the machine. By resvg, which is not installed with mqbench: it is 4 MB for
 * something that few ask for. Without it: a failure that says what to install.
 */
export async function pngOf(svg: string): Promise<Uint8Array> {
	const { Resvg } = await resvg();
	return new Resvg(svg, { fitTo: { mode: "zoom", value: 2 } }).render().asPng();
}

// --- internal ---

async function resvg() {
	try {
		return await import("@resvg/resvg-js");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND")
			throw failure("no-png", undefined);
		throw error;
	}
}
