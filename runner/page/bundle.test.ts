import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { firstView } from "../chart/option.ts";
import { svgOf } from "../chart/svg.ts";
import { figuresOf } from "../figures/figures.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { bundle } from "./bundle.ts";

const folder = mkdtempSync(path.join(tmpdir(), "mqbench-bundle-"));
const read = (name: string) => readFileSync(path.join(folder, name), "utf8");

beforeAll(() => bundle(folder), 60_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe("the bundle", () => {
	test("of the page is below 720 kB", () => {
		const page = read("page.js");
		expect(Buffer.byteLength(page)).toBeLessThan(720_000);
		// It is a script, not a module.
		expect(page).not.toMatch(/^\s*(?:import|export)\b/m);
		expect(() => new Function(page)).not.toThrow();
	});

	test("asks no other host for anything", () => {
		// XML namespaces and licences, which are never fetched.
		const known =
			/https?:\/\/(?:www\.w3\.org|www\.apache\.org|github\.com|echarts\.apache\.org)\b/g;
		expect(read("page.js").replaceAll(known, "")).not.toMatch(/https?:\/\/\w/);
	});

	test("of a run that is under way is small, and has no library of its own", () => {
		const script = read("watch.js");
		expect(Buffer.byteLength(script)).toBeLessThan(3600);
		expect(script).not.toMatch(/^\s*(?:import|export)\b/m);
		expect(script).not.toMatch(/https?:\/\/\w/);
	});

	test("tells the licences of the libraries in it", () => {
		for (const name of ["page.js", "draw.js"])
			for (const words of [
				"Apache ECharts",
				"Apache License, Version 2.0",
				"BSD 3-Clause License",
				"Copyright (c) 2017, Baidu Inc.",
				"Mike Bostock",
			])
				expect(read(name).slice(0, 5000).includes(words)).toBe(true);
	});

	test("draws in Node what the sources draw", async () => {
		const drawer = await import(pathToFileURL(path.join(folder, "draw.js")).href);
		for (const figure of figuresOf(fixtureResult("stall"))) {
			const view = firstView(figure, "light");
			expect(drawer.svgOf(figure, view)).toBe(svgOf(figure, view));
		}
	});
});
