import { describe, expect, test } from "vitest";
import { type Any, type Changes, judged } from "./judged.fake.ts";

const T0_MS = 1767225600000;
const MS = 1e6;

/** By second of the run: idle cores of 4, and how long generator and broker waited in it for each second that they used. */
interface Second {
	readonly idle: number;
	readonly wait: number | null;
}
const FREE: Second = { idle: 3, wait: 0.01 };
const TAKEN: Second = { idle: 0.1, wait: 4 };

/** A sample a second, from a second before T0 on: `at` says what second s of the run was like. */
const sampled = (at: (s: number) => Second): Any[] => {
	let [idleNs, waitNs] = [0, 0 as number | null];
	return Array.from({ length: 14 }, (_, i) => {
		const { idle, wait } = at(i - 2);
		idleNs += idle * 1e9;
		waitNs = wait === null || waitNs === null ? null : waitNs + wait * 1e9;
		const used = {
			cpuNs: i * 1e9,
			rssBytes: 1,
			readBytes: 0,
			writeBytes: 0,
			...(waitNs === null ? {} : { waitNs }),
		};
		return {
			unixMs: T0_MS - 1000 + i * 1000,
			generator: used,
			broker: used,
			machine: { cpuNs: i * 4e9, idleNs, stealNs: 0, throttled: 0 },
		};
	});
};
const coresOf = ({ checks }: ReturnType<typeof judged>) => checks.find((c) => c.check === "cores");

// stall: 490 messages of 10 000 took longer than 10ms, all of them due in 500 ms of the sixth second of the run.
const stalled = (at: (s: number) => Second, changes: Changes = {}) =>
	judged("stall", { resources: sampled(at), ...changes });

describe("a FAIL of a machine without a free core", () => {
	test("stays a FAIL, and has its cause", () => {
		const found = stalled(() => TAKEN);
		expect(found).toMatchObject({ verdict: "fail", cause: "machine" });
		expect(found.judgements[0]).toMatchObject({
			verdict: "fail",
			cause: "machine",
			over: 490,
			code: "machine-saturated",
			why: expect.stringContaining(
				"but the machine was saturated (this machine): no core was free in 100 % of the window (2.5 % of the CPU time was idle, and generator and broker waited for 80 % of the time in which they wanted a core)",
			),
		});
		expect(coresOf(found)).toMatchObject({
			status: "warn",
			detail: expect.stringMatching(/: that decided p99 < 10ms$/),
			figure: "2.5 % idle",
		});
	});

	test("is not known of a run that was stopped before its load began", () => {
		const found = stalled(() => TAKEN, { lines: () => [] });
		expect(found.checks.map(({ detail }) => detail).join()).not.toMatch(/NaN/);
		expect(coresOf(found)?.status).toBe("unknown");
	});

	test.each([
		["in the seconds in which the messages were late", 4, 7, "machine"],
		["at another time", 8, 12, null],
	])("%s", (_, from, to, cause) => {
		const found = stalled((s) => (s >= from && s < to ? TAKEN : FREE));
		expect(found).toMatchObject({ verdict: "fail", cause });
		expect(coresOf(found)?.status).toBe("warn");
	});

	test.each([
		["work of low priority used what was idle", { idle: 0, wait: 0.05 }],
		["there was room", FREE],
	])("has none where %s", (_, second) => {
		const found = stalled(() => second);
		expect(found).toMatchObject({ verdict: "fail", cause: null });
		expect(coresOf(found)).toMatchObject({ status: "ok" });
	});

	test("is told by idle time alone where samples know nothing of waiting", () => {
		expect(stalled(() => ({ idle: 0.1, wait: null })).cause).toBe("machine");
	});

	test("explains a rate that was not reached, and no loss", () => {
		const tally = (name: string, op: string, limit: number): Changes => ({
			plan: (plan) => {
				const text = `${name} ${op} ${limit}`;
				plan.sla = [{ kind: "tally", text, tally: name, op, limit, abort: false }];
			},
		});
		const rate = tally("throughput", ">=", 1e6);
		expect(stalled(() => TAKEN, rate).cause).toBe("machine");
		expect(stalled(() => FREE, rate).cause).toBeNull();
		expect(stalled(() => TAKEN, tally("notOffered", "==", 5)).cause).toBeNull();
	});
});

test("a run that was interrupted has no line that the machine decided", () => {
	const found = judged("interrupted", { resources: sampled(() => TAKEN) });
	expect(found.judgements.map(({ cause }) => cause)).not.toContain("machine");
	expect(coresOf(found)).toMatchObject({ status: "warn" });
});

test("a PASS without a free core is warned of", () => {
	const found = judged("healthy", { resources: sampled(() => TAKEN) });
	expect(found).toMatchObject({ verdict: "pass", cause: null });
	expect(coresOf(found)).toMatchObject({ status: "warn" });
});

test("samples that are missing are not known, never free", () => {
	expect(coresOf(judged("healthy", { resources: [] }))?.status).toBe("unknown");
});

describe("a FAIL where the generator alone does not keep the limit either", () => {
	const floorOf = (p99: number) => ({
		floor: {
			folder: "floors/01",
			problem: null,
			count: 5000,
			p50: 1e4,
			p99,
			max: p99,
			perSecond: null,
		},
	});
	const floored = (p99: number) => stalled(() => FREE, { surroundings: floorOf(p99) });
	test("stays where the floor keeps it", () => {
		expect(floored(9 * MS).verdict).toBe("fail");
	});
	test.each(["p99.9 < 20ms", "max < 20ms"])(
		"stays where the messages that never completed are too many for %s",
		(line) => {
			const { judgements } = judged("lost", {
				surroundings: floorOf(50 * MS),
				plan: (plan) => {
					const { percentile: _, ...sla } = plan.sla[0];
					plan.sla[0] = line.startsWith("max")
						? { ...sla, kind: "max", text: line }
						: { ...sla, percentile: 99.9, text: line };
				},
			});
			expect(judgements[0]?.verdict).toBe("fail");
			expect(judgements[0]?.why).toContain("never completed");
		},
	);
});
