import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { BaselineSla } from "../model/plan.ts";
import { packageFolder } from "../package.ts";
import { checkTable } from "./checks.ts";
import { UNKNOWN } from "./facts.ts";
import { type Any, type Changes, judged } from "./judged.fake.ts";

const check = (name: string, changes: Changes, of = "healthy") => {
	const found = judged(of, changes).checks.find((c) => c.check === name);
	if (found === undefined) throw new Error(`no check ${name}`);
	return found;
};
const lines = (edit: (lines: Any[]) => void): Changes => ({
	lines: (all) => {
		edit(all);
		return undefined;
	},
});
const ticks = (all: Any[]) => all.filter((l) => l.type === "tick");
const T0_MS = 1767225600000;

/** A sample a second, from a second before T0 to the end; `machine` says what the counters are after s seconds. */
const resources = (machine: (s: number) => Any, broker: (s: number) => Any = () => null): Any[] =>
	Array.from({ length: 9 }, (_, i) => ({
		unixMs: T0_MS - 1000 + i * 1000,
		generator: null,
		broker: broker(i),
		machine: { cpuNs: i * 4e9, idleNs: i * 3e9, stealNs: 0, throttled: 0, ...machine(i) },
	}));

test("a healthy run is quiet: nothing is found, and only the floor is not known", () => {
	const { checks } = judged("healthy");
	expect(checks.filter((c) => c.status !== "ok").map((c) => c.check)).toEqual(["steady", "floor"]);
	expect(checks.every((c) => c.status !== "ok" || c.remedy === null)).toBe(true);
});

test("reports/README.md has the table of checks (UPDATE_GOLDEN=1 writes it)", () => {
	const path = join(packageFolder, "reports", "README.md");
	const readme = readFileSync(path, "utf8");
	const written = readme.replace(/^\| check \|[\s\S]*?\n(?=\n)/m, checkTable);
	if (process.env.UPDATE_GOLDEN) writeFileSync(path, written);
	else expect(written).toBe(readme);
});

test("every check that is not ok says what to do", () => {
	for (const name of ["lost", "lag", "no-data", "interrupted", "repeats"])
		for (const c of judged(name).checks)
			expect(c.status === "ok" || (c.remedy ?? "").length > 5).toBe(true);
});

describe("lag", () => {
	const compared: BaselineSla = {
		kind: "baseline",
		text: "p99 <= baseline + 10%",
		figure: "response p99",
		op: "<=",
		margin: 0.1,
		allowanceNs: null,
	};
	/** All lag: a message that is sent late and answered at once. */
	const lagOf = (baselineSla: readonly BaselineSla[], limitBytes: number | null = null) =>
		check(
			"lag",
			{
				plan: (plan) => {
					Object.assign(plan, { sla: [], limits: [], baselineSla });
					plan.message.limitBytes = limitBytes;
				},
			},
			"lag",
		);

	test("that is most of what was measured makes a run without any SLA INVALID", () => {
		expect(lagOf([]).status).toBe("invalid");
	});
	test("only warns where messages exceed a limit: late ones are refused all the same", () => {
		expect(lagOf([], 200).status).toBe("warn");
	});
	test("warns where the run is compared: the comparison is judged with and without it", () => {
		expect(lagOf([compared]).status).toBe("warn");
	});
	test("spoils a run that compares only what has no lag in it", () => {
		expect(lagOf([{ ...compared, figure: "throughput" }]).status).toBe("invalid");
	});
});

describe("the control group's quota", () => {
	test.each([
		["never in the window", (s: number) => (s < 2 ? 3 * s : 6), "ok"],
		["while the window was open", (s: number) => (s < 4 ? 0 : 7), "warn"],
		["unreadable", () => null, "unknown"],
	])("throttled %s: %s", (_, throttled, status) => {
		expect(
			check("cpuQuota", { resources: resources((s) => ({ throttled: throttled(s) })) }).status,
		).toBe(status);
	});

	test("without any samples is not known, never ok", () => {
		expect(check("cpuQuota", { resources: [] }).status).toBe("unknown");
		expect(check("steal", { resources: [] }).status).toBe("unknown");
	});
});

describe("steal", () => {
	test.each([
		[0.01, "ok", "1 %"],
		[0.05, "warn", "5 %"],
	])("of %d of the CPU time is %s", (share, status, figure) => {
		expect(
			check("steal", { resources: resources((s) => ({ stealNs: s * 4e9 * share })) }),
		).toMatchObject({ status, figure, limit: "2 %" });
	});

	test("of a counter that went backwards is not known", () => {
		expect(
			check("steal", { resources: resources((s) => ({ stealNs: (9 - s) * 1e9 })) }).status,
		).toBe("unknown");
	});
});

describe("other processes", () => {
	/** Of 4 cores, in each second: what the processes and nothing used. */
	const used = (generator: number | null, broker: number | null, idle: number) =>
		resources(
			(s) => ({ idleNs: s * idle * 1e9 }),
			(s) => usage(s, broker),
		).map((line, s) => ({ ...line, generator: usage(s, generator) }));
	const usage = (s: number, cores: number | null) =>
		cores === null ? null : { cpuNs: s * cores * 1e9, rssBytes: 0, readBytes: 0, writeBytes: 0 };

	test.each([
		[0.5, 0.5, 2.5, "ok", "13 %"],
		[0.5, 0.5, 1.5, "warn", "38 %"],
		// Sampled apart they may seem to have used more than there was.
		[2, 2, 1, "ok", "0 %"],
		[0.5, null, 1, "unknown", null],
		[null, 0.5, 1, "unknown", null],
	])("beside %d and %d of 4 cores, %d idle: %s", (generator, broker, idle, status, figure) => {
		expect(check("others", { resources: used(generator, broker, idle) })).toMatchObject({
			status,
			figure,
		});
	});

	test("are told beside a broker of yours whose process was found here, else not", () => {
		const told = (broker: number | null) =>
			judged("healthy", {
				plan: (plan) => {
					plan.target = "existing";
				},
				resources: used(0.5, broker, 1.5),
			}).checks.find((c) => c.check === "others");
		expect(told(0.5)).toMatchObject({ status: "warn", figure: "38 %" });
		expect(told(null)).toBeUndefined();
	});

	test("is told as long as the generator was there", () => {
		const lines = used(0.5, 0.5, 1.5);
		const gone = lines.map((line, s) => (s < 6 ? line : { ...line, generator: null }));
		expect(check("others", { resources: gone })).toMatchObject({ status: "warn", figure: "38 %" });
	});
});

describe("the generator's own CPU", () => {
	const cpu = (cores: number, quotaCores: number | null = null): Changes => ({
		...lines((all) => {
			for (const t of ticks(all)) t.cpuNs = cores * 1e9;
		}),
		surroundings: { quotaCores },
	});
	test.each([
		[3.1, null, "ok"],
		[3.3, null, "warn"],
		[0.9, 1, "warn"],
		[0.7, 1, "ok"],
		[0, null, "unknown"],
	])("of %d cores where the quota is %s is %s (4 cores)", (cores, quota, status) => {
		expect(check("ownCpu", cpu(cores, quota)).status).toBe(status);
	});
});

describe("the Go runtime", () => {
	test.each([
		[9e6, "ok"],
		[11e6, "warn"],
	])("garbage collection of %d ns in each second is %s", (ns, status) => {
		expect(
			check(
				"gcPause",
				lines((all) => {
					for (const t of ticks(all)) t.gcPauseNs = ns;
				}),
			).status,
		).toBe(status);
	});

	test("garbage collection in the warm-up does not count", () => {
		expect(
			check(
				"gcPause",
				lines((all) => {
					for (const t of ticks(all)) t.gcPauseNs = t.at <= 1 ? 9e8 : 0;
				}),
			).status,
		).toBe("ok");
	});
});

describe("the floor of the generator", () => {
	const floor = (p99: number | null, problem: string | null = null) => ({
		surroundings: {
			...UNKNOWN,
			floor: {
				folder: "floors/01",
				problem,
				count: 5000,
				p50: 1e4,
				p99,
				max: p99,
				perSecond: null,
			},
		},
	});
	// healthy: response p99 443us.
	test.each([
		[100_000, "ok", "without any broker p99 is 100us at best"],
		[
			160_000,
			"warn",
			"without any broker p99 is 160us at best, a large part of the 431us with one",
		],
		[null, "unknown", "nothing to compare"],
	])("with p99 %d ns is %s", (p99, status, detail) => {
		const found = check("floor", floor(p99));
		expect(found.status).toBe(status);
		expect(found.detail).toContain(detail);
	});

	test("that was not measured, or not to its end, is not known", () => {
		expect(check("floor", {})).toMatchObject({ status: "unknown", detail: "not measured" });
		expect(check("floor", floor(1, "k6 was stopped"))).toMatchObject({
			status: "unknown",
			detail: "k6 was stopped",
		});
	});
});
