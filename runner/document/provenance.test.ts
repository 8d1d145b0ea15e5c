import { describe, expect, test } from "vitest";
import type { Result, Run } from "../model/result.ts";
import { readResult } from "../result/result-files.ts";
import { fixtureResult, publishedFolder } from "../result/stored.fake.ts";
import { type Item, plain } from "./blocks.ts";
import { provenance } from "./provenance.ts";

function strip(result: Result): { text: string; items: readonly (Item & { said: string })[] } {
	const [fold] = provenance(result);
	const [list] = fold?.blocks ?? [];
	if (fold === undefined || list?.kind !== "list") throw new Error("no provenance");
	return {
		text: fold.title,
		items: list.items.map((item) => ({ ...item, said: plain(item.text) })),
	};
}

describe("where figures come from", () => {
	test("is told for each run, in its order, with when it began and which checks speak", () => {
		const result = fixtureResult("repeats");
		const { items } = strip(result);
		expect(items).toHaveLength(result.runs.length);
		for (const [i, run] of result.runs.entries()) {
			const { said = "", text, badge } = items[i] ?? {};
			expect(text).toContainEqual(expect.objectContaining({ to: `#run-${i + 1}` }));
			expect(said).toContain(`repeat ${run.repeat}`);
			expect(said).toContain(`begun ${run.startedAt?.slice(0, 16).replace("T", " ")}`);
			const spoken = run.validity.filter(({ status }) => ["warn", "invalid"].includes(status));
			const unknown = run.validity.filter(({ status }) => status === "unknown");
			if (unknown.length > 0)
				expect(said).toContain(`not checked: ${unknown.map(({ check }) => check).join(", ")}`);
			for (const { check } of spoken) expect(said).toContain(check);
			if (spoken.length === 0) expect(said).toContain("no check speaks");
			expect(badge === "ok").toBe(spoken.length === 0);
		}
	});

	test("a run whose queue grew is no warning among others, and not steady", () => {
		const result = readResult(publishedFolder("message-queue-latency"));
		const { items } = strip(result);
		expect(items.map(({ badge }) => badge === "fail")).toEqual(
			result.runs.map(({ verdict }) => verdict === "fail"),
		);
		const failed = items.filter(({ badge }) => badge === "fail");
		expect(failed.length).toBeGreaterThan(0);
		for (const { said } of failed) {
			expect(said).toContain("a queue grew");
			expect(said).not.toMatch(/; (not )?steady(;|$)/);
		}
	});

	test("counts those that checks speak against", () => {
		const result = fixtureResult("repeats");
		const [first, ...rest] = result.runs.map((run) => ({
			...run,
			validity: run.validity.map((check) => ({ ...check, status: "ok" as const })),
		}));
		if (first === undefined) throw new Error("no run");
		const clean = { ...result, runs: [first, ...rest] };
		expect(strip(clean).text).toMatch(/no check speaks against any$/);
		const doubted: Run = { ...first, verdict: "invalid" };
		const one = strip({ ...result, runs: [doubted, ...rest] });
		expect(one.text).toMatch(/checks speak against 1 of them$/);
		expect(one.items[0]?.badge).toBe("invalid");
	});
});

describe("the strip of runs", () => {
	const healthy = () => {
		const result = fixtureResult("healthy");
		const [run] = result.runs;
		if (!run || !result.environment) throw new Error("no run");
		const { cores } = result.environment;
		return { result, run, cores };
	};

	test("says how idle the machine was in the window, by its samples", () => {
		const { result, run, cores } = healthy();
		const used = [0.5, 0.25, 0.75].map((share) => share * cores);
		run.series.resources = [0.9, 2, 3, 4, 99].map((at, i) => ({
			at,
			generator: null,
			broker: null as (typeof run.series.resources)[number]["broker"],
			network: null,
			machine: { busyCores: used[i - 1] ?? cores, stealCores: null },
		}));
		expect(run.window).toMatchObject({ startNs: 1e9, endNs: 6e9 });
		expect(strip(result).text).toContain("machine 50 % idle");
		expect(strip(result).items[0]?.said).toContain("machine 50 % idle");
		// What ran between two ticks the kernel has only counted for its process.
		for (const one of run.series.resources)
			one.broker = {
				cores: 0.6 * cores,
				rssBytes: null,
				readBytesPerSecond: null,
				writeBytesPerSecond: null,
			};
		expect(strip(result).text).toContain("machine 35 % idle");
		// Of brokers elsewhere it is no time of this machine.
		run.sameHost = false;
		expect(strip(result).text).toContain("machine 50 % idle");
		run.series.resources = [];
		expect(strip(result).text).not.toContain("idle");
	});

	test("says of each run whether latency was steady, where a check has looked", () => {
		const { result, run } = healthy();
		const check = (status: "ok" | "warn" | "unknown") => {
			run.validity = run.validity.filter((c) => c.check !== "steady");
			run.validity.push({
				check: "steady",
				status,
				detail: "d",
				figure: null,
				limit: null,
				remedy: null,
			} as Run["validity"][number]);
			return strip(result).items[0]?.said.split("; ");
		};
		expect(check("ok")).toContain("steady");
		expect(check("warn")).toContain("not steady");
		expect(check("unknown")).not.toContain("steady");
	});
});
