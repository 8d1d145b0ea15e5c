import { expect, test } from "vitest";
import { percentile } from "../../histogram/percentiles.ts";
import { collect } from "../../run/collect.ts";
import { firstRun, fixture } from "../../run/fixture.fake.ts";
import { factsOf, mainSampleOf, UNKNOWN } from "../facts.ts";
import { freshMemory } from "./fresh-memory.ts";

const MIB = 2 ** 20;
const stored = factsOf(collect(firstRun(fixture("healthy"))), UNKNOWN);
const p50 = percentile(mainSampleOf(stored), 50, 1).value ?? Number.NaN;

/** A run of 5000 messages in the 5 s from 1 s to 6 s, with what its broker has written and keeps after s seconds, in MiB. */
function run(
	freshMemoryNs: number | null,
	written: (s: number) => number | null,
	kept: (s: number) => number = () => 100,
) {
	const { collected } = stored;
	const [sample] = collected.resources;
	if (!collected.run || !sample || collected.t0Ms === null) throw new Error("another fixture");
	const t0Ms = collected.t0Ms;
	const resources = Array.from({ length: 9 }, (_, i) => {
		const writeBytes = written(i - 1);
		return {
			...sample,
			unixMs: t0Ms + (i - 1) * 1000,
			broker: {
				cpuNs: 0,
				waitNs: 0,
				readBytes: 0,
				rssBytes: kept(i - 1) * MIB,
				writeBytes: writeBytes === null ? null : writeBytes * MIB,
			},
		};
	});
	return {
		...stored,
		collected: { ...collected, resources, run: { ...collected.run, freshMemoryNs } },
	};
}
const of = (...args: Parameters<typeof run>) => freshMemory.judge(run(...args), []);

test("500 MiB written for 5000 messages, at 2 ms a MiB, are at most 200us of each", () => {
	const found = of(2e6, (s) => 100 * s + 100);
	expect(found.figure).toBe("200us");
	expect(found.said.text).toBe(
		`memory that is new to this machine takes 2ms a MiB longer than other memory, and the broker took 102KiB for each message: at most 200us of p50 ${found.said.text.split("p50 ")[1]}`,
	);
	expect(found.said.values).toMatchObject({ costNs: 200_000, p50Ns: p50 });
});

test("what the broker's processes grow by is new memory, too; what they give back takes nothing off", () => {
	const written = (s: number) => 100 * s + 100;
	expect(of(1e6, written, (s) => 100 + 50 * s).figure).toBe("150us");
	expect(of(2e6, written, (s) => 1000 - 50 * s).figure).toBe("200us");
});

test("at most all of p50, however much was taken", () => {
	const { said } = of(100 * p50, (s) => 100 * s + 100);
	expect(said.values).toMatchObject({ costNs: p50 });
});

test.each([
	[0.09, "ok"],
	[0.11, "warn"],
])("%d of p50 is %s", (share, status) => {
	// 0.1 MiB a message.
	expect(of((share * p50) / 0.1, (s) => 100 * s + 100).status).toBe(status);
});

test("a broker that nobody could look at leaves it open", () => {
	expect(of(2e6, () => null).status).toBe("unknown");
});

test("is not asked where it was not measured", () => {
	const applies = (perMib: number | null) => freshMemory.applies?.(run(perMib, () => 0).collected);
	expect(applies(null)).toBe(false);
	expect(applies(0)).toBe(true);
});
