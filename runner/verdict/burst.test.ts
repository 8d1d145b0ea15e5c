import { describe, expect, test } from "vitest";
import { type Any, judged } from "./judged.fake.ts";

const MS = 1e6;
const seconds = (lines: Any[]) => lines.filter((l) => l.type === "second");
const edited = (edit: (second: Any) => void) => (lines: Any[]) => {
	for (const s of seconds(lines)) edit(s);
	return undefined;
};
const hasOver = (s: Any) => s.limits[0].over.some((n: number) => n > 0);

/** k6 stood still for 500 ms and caught up: what it sent at once waited in the broker, so that taking lag off changes little. */
const generatorStall = edited((s) => {
	s.limits[0].overWithoutLag = s.limits[0].over.map((n: number) => Math.max(0, n - 1));
	if (hasOver(s)) s.metrics.lag.max = 500 * MS;
});

describe("a burst after the generator stood still", () => {
	test("makes a FAIL of service INVALID too, though no lag is in it", () => {
		const { judgements } = judged("stall", {
			plan: (plan) => {
				plan.limits[0].metric = "service";
				plan.sla[0].metric = "service";
			},
			lines: generatorStall,
		});
		expect(judgements[0]).toMatchObject({ verdict: "invalid", code: "late-by-burst" });
	});

	test("a stall of the broker stays a FAIL, with a small lag too", () => {
		expect(judged("stall").verdict).toBe("fail");
		const { judgements } = judged("stall", {
			lines: edited((s) => {
				s.metrics.lag.max = 9.9 * MS;
			}),
		});
		expect(judgements[0]?.verdict).toBe("fail");
	});

	test("a stall of the broker in other seconds than the generator's stays a FAIL", () => {
		const { judgements } = judged("stall", {
			lines: edited((s) => {
				if (s.second === 8) s.metrics.lag.max = 500 * MS;
			}),
		});
		expect(judgements[0]?.verdict).toBe("fail");
	});

	test("changes nothing where less than half of the window would be left", () => {
		const { judgements } = judged("stall", {
			lines: edited((s) => {
				if (s.second % 2 === 0) s.metrics.lag.max = 500 * MS;
			}),
		});
		expect(judgements[0]?.verdict).toBe("fail");
	});

	test("in the last second of the warm-up reaches into the window", () => {
		const { judgements } = judged("stall", {
			lines: edited((s) => {
				if (s.second === 3) s.metrics.lag.max = 500 * MS;
			}),
		});
		// The stall is in second 4: the one after the late one.
		expect(judgements[0]).toMatchObject({ verdict: "invalid" });
	});
});

test("a FAIL that without lag is undecided is INVALID too, not only one that would pass", () => {
	const { judgements } = judged("healthy", {
		lines: edited((s) => {
			if (s.second < 0) return;
			s.limits[0].over = Array(10).fill(2);
			s.limits[0].overWithoutLag = Array(10).fill(1);
		}),
	});
	expect(judgements[0]).toMatchObject({ verdict: "invalid", code: "late-by-lag", over: 100 });
});
