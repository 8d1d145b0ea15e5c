import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { figuresOf, listOf } from "../figures/figures.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { firstView } from "./options.ts";

const [figure] = listOf(figuresOf(fixtureResult("stall")));
if (figure === undefined) throw new Error("no figure");

describe("without a build", () => {
	beforeEach(() => {
		vi.resetModules();
		vi.doMock("../package.ts", () => ({ packageFolder: "/nowhere" }));
	});

	// Test files share a process: the next would find no build either.
	afterEach(() => {
		vi.doUnmock("../package.ts");
		vi.resetModules();
	});

	test("page and pictures say what is missing, and what to do", async () => {
		const { drawSvg } = await import("./draw.ts");
		const { builtScript } = await import("../page/html-page.ts");
		const said = (name: string) =>
			new RegExp(`^/nowhere/dist/page/${name} is missing.*npm run build$`);
		expect(() => builtScript("page.js")).toThrow(said("page.js"));
		await expect(drawSvg(figure, firstView(figure, "light"))).rejects.toThrow(said("draw.js"));
	});
});
