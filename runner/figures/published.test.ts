import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { firstView } from "../chart/option.ts";
import { svgOf } from "../chart/svg.ts";
import { packageFolder } from "../package.ts";
import { PUBLISHED, publishedFolder, storedResult } from "../result/stored.fake.ts";
import { figuresOf, MOST } from "./figures.ts";

// The pictures that READMEs show are those that `mqbench report --svg` draws of the published runs.
const pictures = readdirSync(PUBLISHED).flatMap((run) => {
	const folder = path.join(PUBLISHED, run, "svg");
	return existsSync(folder) ? readdirSync(folder).map((name) => [run, name] as const) : [];
});

describe("a published picture", () => {
	test.each(pictures)("of %s, %s, is what is drawn of it today", (run, name) => {
		const [, id, dark] = /^(.*?)(-dark)?\.svg$/.exec(name) ?? [];
		const result = storedResult(publishedFolder(run));
		const figure = figuresOf(result, MOST).find((f) => f.id === id);
		if (figure === undefined) throw new Error(`no figure ${id}`);
		const view = firstView(figure, dark ? "dark" : "light");
		expect(readFileSync(path.join(PUBLISHED, run, "svg", name), "utf8")).toBe(
			`${svgOf(figure, view)}\n`,
		);
	});

	test("stands in README.md, in both themes", () => {
		const readme = readFileSync(path.join(packageFolder, "README.md"), "utf8");
		const shown = [...readme.matchAll(/"(reports\/published\/[^"]+\.svg)"/g)];
		expect(shown.map(([, file]) => path.basename(file ?? "")).sort()).toEqual(
			pictures.map(([, name]) => name).toSorted(),
		);
	});
});
