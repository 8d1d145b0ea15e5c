import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { firstView } from "../chart/option.ts";
import { fixtureCopy } from "../evidence/fixture.fake.ts";
import { main } from "../main.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { fakeWorld } from "../world.fake.ts";
import { figuresOf } from "./figures.ts";

const RUN = "run-01-nats-256B-1000-s-1";

describe("mqbench report --svg", () => {
	test("draws every chart into svg/ of the run, names the files, and touches nothing else", async () => {
		const folder = fixtureCopy("stall");
		const world = fakeWorld({ cwd: folder });
		const before = readdirSync(folder);
		expect(await main(["report", ".", "--svg"], world)).toBe(0);
		const files = ["percentiles", "time", "heat"].map((kind) => `${RUN}-${kind}.svg`);
		expect(world.out()).toBe(files.map((f) => `svg/${f}\n`).join(""));
		expect(readdirSync(join(folder, "svg")).sort()).toEqual(files.toSorted());
		expect(readdirSync(folder)).toEqual([...before, "svg"].sort());
	});

	test("each picture is whole by itself: name, facts, nothing from elsewhere", async () => {
		const folder = fixtureCopy("stall");
		await main(["report", folder, "--svg"], fakeWorld({ cwd: folder }));
		const svg = readFileSync(join(folder, "svg", `${RUN}-percentiles.svg`), "utf8");
		expect(svg).toMatch(/^<svg [^>]*role="img"[^>]*>\n<title /);
		expect(svg).toContain(">nats: none, nothing is stored;");
		expect(svg).not.toMatch(/<script|<image|href=|@import|url\((?!#)/);
	});

	test("takes a folder, a theme, and a pattern of names", async () => {
		const folder = fixtureCopy("stall");
		const world = fakeWorld({ cwd: folder });
		const argv = ["report", ".", "--svg", "out/here", "--theme", "dark"];
		expect(await main([...argv, "--only", "*-heat"], world)).toBe(0);
		expect(world.out()).toBe(`out/here/${RUN}-heat-dark.svg\n`);
		expect(readFileSync(join(folder, `out/here/${RUN}-heat-dark.svg`), "utf8")).toContain(
			'fill="#12161c"',
		);
	});

	test("of a name that no chart has is one sentence, with those there are: exit code 2", async () => {
		const folder = fixtureCopy("stall");
		const world = fakeWorld({ cwd: folder });
		const argv = ["report", ".", "--svg", "--only", "x*"];
		expect(await main(argv, world)).toBe(2);
		expect(world.err()).toContain("--only x*: no picture is called so");
		expect(world.err()).toContain(`${RUN}-percentiles`);
		expect(existsSync(join(folder, "svg"))).toBe(false);
	});
});

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
		const [figure] = figuresOf(fixtureResult("stall"));
		if (figure === undefined) throw new Error("no figure");
		const { drawSvg } = await import("./files.ts");
		const { builtScript } = await import("../page/html-page.ts");
		const said = (name: string) =>
			new RegExp(`^/nowhere/dist/page/${name} is missing.*npm run build$`);
		expect(() => builtScript("page.js")).toThrow(said("page.js"));
		await expect(drawSvg(figure, firstView(figure, "light"))).rejects.toThrow(said("draw.js"));
	});
});
