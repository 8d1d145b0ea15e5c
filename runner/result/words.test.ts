import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import { measuredText } from "../document/words.ts";
import { editJson, firstRun, fixtureCopy } from "../evidence/fixture.fake.ts";
import { figuresOf } from "../figures/figures.ts";
import type { RigMachines } from "../model/environment-file.ts";
import type { Run, Search } from "../model/result.ts";
import { renderHtml, renderMarkdown, terminalOf as terminal } from "../render/rendered.fake.ts";
import { fixtureResult } from "./stored.fake.ts";
import { fateText, searchTitle, systemText } from "./words.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests change any field of a plan.
const planned = (name: string, edit: (plan: any) => void) => {
	const copy = fixtureCopy(name);
	editJson(join(firstRun(copy), "plan.json"), edit);
	return buildResult(copy);
};

test("a command with --quick says beside the verdict that it gives no result", () => {
	const result = planned("healthy", (plan) => {
		plan.quick = true;
	});
	expect(result.quick).toBe(true);
	const html = renderHtml(result);
	for (const text of [terminal(result), renderMarkdown(result), html]) {
		expect(text).toContain("PASS (shortened: no result)");
		expect(text).toMatch(/shortened by --quick/i);
	}
	// Charts are shown without their report.
	const figures = figuresOf(result);
	expect(figures.length).toBeGreaterThan(0);
	for (const { facts } of figures) expect(facts).toContain("shortened");
	expect(fixtureResult("healthy").quick).toBe(false);
});

test("a system without a version says which broker it is", () => {
	const [run] = fixtureResult("healthy").runs;
	if (!run?.versions) throw new Error("another fixture");
	run.versions.server = "";
	run.brokerVersion = null;
	expect(systemText(run)).toMatch(/^nats, version unknown; durability: /);
});

describe("machines of a rig", () => {
	const shown = (rig: Partial<RigMachines>) => {
		const copy = fixtureCopy("healthy");
		const whole: RigMachines = {
			id: "x-1",
			createdAt: "2026-01-02T03:04:05.000Z",
			here: false,
			cloud: "aws eu-central-1",
			brokers: ["b1"],
			clients: ["c1"],
			machines: "1 i4i.xlarge for brokers (aws eu-central-1)",
			facts: { zone: "eu-central-1a", rack: "7" },
			...rig,
		};
		editJson(join(copy, "environment.json"), (file) => Object.assign(file, { rig: whole }));
		const result = buildResult(copy);
		return {
			words: measuredText(result),
			// Without tags.
			page: renderHtml(result).replaceAll(/<[^>]+>/g, " "),
		};
	};

	test.each<[string, Partial<RigMachines>, words: RegExp, page: RegExp]>([
		[
			"that are rented, with what tells one stand from another",
			{},
			/^Measured on 1 i4i\.xlarge for brokers \(aws eu-central-1\), started from /,
			/rented machines\s+1 i4i\.xlarge for brokers \(aws eu-central-1\), rig x-1 of 2026-01-02T03:04:05\.000Z; mqbench itself ran on what follows[\s\S]*rig: zone\s+eu-central-1a/,
		],
		[
			"that are yours, and where the load comes from",
			{ cloud: null, createdAt: null, here: true, clients: [], machines: "host b1 for brokers" },
			/^Measured on host b1 for brokers, with the load from /,
			/hosts\s+host b1 for brokers, rig x-1; mqbench itself and the load ran on what follows[\s\S]*rig: rack\s+7/,
		],
	])("%s stand where the machine stands", (_, rig, words, page) => {
		const found = shown(rig);
		expect(found.words).toMatch(words);
		expect(found.page).toMatch(page);
	});
});

describe("what became of messages above the limit", () => {
	const of = (some: Partial<Run>, load: Partial<Run["load"]> = {}) => {
		const [run] = fixtureResult("healthy").runs as [Run];
		const none = { intended: 40, acked: 0, received: 0, lost: 0, failed: 0, unknown: 0 };
		const limited = { ...run.load, limitBytes: 1000, ...load };
		return fateText({ ...run, ...none, ...some, load: limited });
	};

	test.each<[string, Partial<Run>, string]>([
		[
			"refused, in the server's words",
			{ failed: 40, errors: [{ message: "too large", count: 40, firstNs: 0 }] },
			"refused: 40 of 40 (too large)",
		],
		[
			"acknowledged and gone",
			{ acked: 40, lost: 40 },
			"lost silently: 40 of 40 were acknowledged and never arrived",
		],
		[
			"gone where nothing is acknowledged",
			{ acked: null, lost: 40 },
			"lost silently: 40 of 40 were sent without an error and never arrived",
		],
		[
			"each its own way",
			{ acked: 3, received: 2, lost: 1, failed: 30, unknown: 7 },
			"refused: 30 of 40; not answered: 7 of 40; lost silently: 1 of 40 were acknowledged and never arrived; arrived: 2 of 40",
		],
	])("%s", (_, run, text) => {
		expect(of(run)).toBe(text);
	});

	test("is not told of other runs, whose counts say it", () => {
		expect(of({ failed: 40 }, { limitBytes: null })).toBeNull();
		expect(of({ failed: 40, state: "never" })).toBeNull();
	});
});

test.each([
	["256B 1000/s", 1, "nats, 256B from 1000/s on"],
	["4KiB 90/min 2 topics", 2, "nats, 4KiB from 90/min on 2 topics, repeat 2"],
	["small", 1, "nats, small"],
])("a search of the case %s, repeat %i, is %s", (name, repeat, title) => {
	expect(searchTitle({ system: "nats", case: name, repeat } as Search)).toBe(title);
});
