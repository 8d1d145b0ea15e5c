import { describe, expect, test } from "vitest";
import type { Plan } from "../../model/plan.ts";
import type { Facts } from "../facts.ts";
import type { Judgement } from "../judgement.ts";
import { simulated } from "../simulated.fake.ts";
import { consumers } from "./trend.ts";

/** A run at 1000/s; `grows` messages more wait after each second. */
const run = (plan: Partial<Plan>, grows = 0): Facts => {
	const facts = simulated((t) => 2 + grows * t);
	const { collected } = facts;
	const queue = { pattern: "work-queue" as const, consumers: 4 };
	return { ...facts, collected: { ...collected, plan: { ...collected.plan, ...queue, ...plan } } };
};
const work = (us: number) => ({ work: { meanNs: 1000 * us, distribution: "constant" as const } });
const failed = [{ verdict: "fail" }] as unknown as readonly Judgement[];
const passed = [{ verdict: "pass" }] as unknown as readonly Judgement[];
const found = (facts: Facts, judgements = passed) => {
	const { status, code, remedy, figure } = consumers.judge(facts, judgements);
	return [status, code ?? null, remedy ?? null, figure];
};

describe("consumers", () => {
	test.each<[string, Facts, readonly Judgement[], unknown[]]>([
		["with room", run(work(3000)), failed, ["ok", null, null, "75 %"]],
		[
			"nearly always busy",
			run(work(3600)),
			failed,
			["warn", "work-near", "write consumers: 5", "90 %"],
		],
		[
			"with too much work, in a window too short to show it",
			run(work(5000)),
			passed,
			["warn", "work-beyond", "write consumers: 6", "130 %"],
		],
		[
			"with too much work: whatever did not pass says nothing about the broker",
			run(work(5000)),
			failed,
			["invalid", "work-beyond", "write consumers: 6", "130 %"],
		],
		[
			"with too much work: neither does a queue that grew",
			run(work(5000), 200),
			passed,
			["invalid", "work-beyond", "write consumers: 6", "130 %"],
		],
		[
			"of whom three are idle",
			run({ groupsByPartition: true }),
			failed,
			["warn", "consumers-idle", "write partitions: 4", null],
		],
		[
			"of whom one does all the work",
			run({ groupsByPartition: true, ...work(2000) }),
			failed,
			["invalid", "work-beyond", "write partitions: 4", "200 %"],
		],
		[
			"with a partition each",
			run({ groupsByPartition: true, partitions: 4, ...work(2000) }),
			failed,
			["ok", null, null, "50 %"],
		],
	])("%s", (_, facts, judgements, expected) => {
		expect(found(facts, judgements)).toEqual(expected);
	});

	test("are judged at the step that asks the most of them", () => {
		const step = { name: "step 1: 1000/s", fromNs: 0, toNs: 20e9 };
		expect(found(run({ ...work(5000), phases: [step] }), failed)[0]).toBe("invalid");
	});

	test("are not asked where they have no work, and each message goes to whoever is free", () => {
		expect(consumers.applies?.(run({}).collected)).toBe(false);
		expect(consumers.applies?.(run(work(1)).collected)).toBe(true);
	});
});
