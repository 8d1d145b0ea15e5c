import { describe, expect, test } from "vitest";
import { MqbenchError } from "../errors.ts";
import { fakeWorld } from "../world.fake.ts";
import { type ReporterArgs, reportersOf } from "./reporters.ts";

const there = fakeWorld({ env: { GITHUB_ACTIONS: "true" } });
const of = (args: ReporterArgs, world = fakeWorld()) =>
	reportersOf(args, world).map((r) => (r.path !== null ? `${r.name}=${r.path}` : r.name));
const refused = (...reporter: string[]) => {
	try {
		reportersOf({ reporter }, fakeWorld());
	} catch (error) {
		expect(error).toBeInstanceOf(MqbenchError);
		expect((error as MqbenchError).exit).toBe(2);
		return (error as MqbenchError).message;
	}
	throw new Error("was taken");
};

describe("reporters", () => {
	test("without a word are the terminal, and in a job of GitHub Actions its annotations", () => {
		expect(of({})).toEqual(["terminal"]);
		expect(of({}, there)).toEqual(["terminal", "github"]);
		expect(of({ json: true })).toEqual(["json=-"]);
		expect(of({ json: true }, there)).toEqual(["json=-", "github"]);
		expect(of({ quiet: true }, there)).toEqual([]);
		expect(of({ quiet: true, json: true }, there)).toEqual(["json=-"]);
	});

	test("that were asked for are all that there are", () => {
		expect(of({ reporter: ["junit"] }, there)).toEqual(["junit"]);
		expect(of({ reporter: ["terminal, json=a/b.json", "html,csv=-x.csv"] })).toEqual([
			"terminal",
			"json=a/b.json",
			"html",
			"csv=-x.csv",
		]);
		expect(of({ reporter: ["terminal,junit=x"], quiet: true })).toEqual(["junit=x"]);
		expect(of({ reporter: ["markdown=a=b.md"] })).toEqual(["markdown=a=b.md"]);
		expect(of({ reporter: ["csv=-"] })).toEqual(["csv=-"]);
	});

	test("that nobody knows are refused with the list, and the nearest name", () => {
		const list = "known: terminal, github, json, junit, markdown, csv, html";
		expect(refused("junti")).toBe(
			`--reporter junti: there is no such reporter; did you mean junit? (${list})`,
		);
		expect(refused("terminal,zzz=x")).toBe(`--reporter zzz: there is no such reporter (${list})`);
		expect(refused("")).toContain("there is no such reporter");
	});

	test("take a path only where they are a file", () => {
		expect(refused("github=x")).toContain("only a file takes a path");
		expect(refused("junit=")).toContain("e.g. junit=out/");
	});

	test("do not share stdout", () => {
		expect(refused("terminal,json=-")).toBe(
			"stdout can hold one of terminal, json: give the others a path, e.g. --reporter json=<file>",
		);
		expect(refused("json=-,csv=-")).toContain("json, csv");
		expect(() => reportersOf({ json: true, reporter: ["terminal"] }, fakeWorld())).toThrow(
			"stdout can hold one",
		);
	});
});
