import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import type { Baseline, Machine } from "../model/comparison.ts";
import type { Plan } from "../model/plan.ts";
import { expand } from "../plan/expand.ts";
import { loadOf } from "../result/run.ts";
import { readEnvironment } from "../run/environment.ts";
import { loadScenario } from "../scenario/load.ts";
import { shorten } from "../scenario/quick.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { fakeWorld } from "../world.fake.ts";
import { baselineOf } from "./baseline-of-result.ts";
import { comparedResult } from "./compared.fake.ts";
import { hashOf, machineOf } from "./machine.ts";
import { againstBaseline, type BaselineArgs, baselineToCompare } from "./to-compare.ts";
import { searchFacts } from "./work.ts";

const workload = "workload: { rate: 1000/s, duration: 10s }\n";
const yaml = `system: nats
repeat: 5
${workload}cases: [{ message: 256B }, { message: 1KiB }]
sla: [p99 <= baseline + 10%]
`;
const here = machineOf(
	readEnvironment("2026-01-01T00:00:00.000Z", { k6: "", go: null }),
) as Machine;

/** A folder with b.json, and a world in it. */
function standing(change: (all: Baseline) => Baseline = (all) => all) {
	const cwd = testFolder();
	const made = baselineOf(comparedResult(yaml, {}).result);
	const baseline = change({ ...made, startedAt: "2026-11-20T12:00:00.000Z", machine: here });
	writeFileSync(path.join(cwd, "b.json"), JSON.stringify(baseline));
	const world = fakeWorld({ cwd, env: { MQBENCH_CACHE_DIR: cwd } });
	return { cwd, world, baseline };
}
const scenario = (text = yaml) => loadScenario("s.yaml", text);
const args = { path: "s.yaml" };
const withFile = { ...args, baseline: "b.json" };

function compare(
	written: Scenario,
	args: BaselineArgs & { only?: string },
	world: ReturnType<typeof fakeWorld>,
) {
	const scenario = againstBaseline(written, args, world);
	const plans = expand(scenario, { only: args.only });
	return {
		scenario,
		...baselineToCompare(scenario, plans, { ...args, settings: undefined }, world),
	};
}

describe("a line that compares", () => {
	test("without a baseline is refused before anything runs, with the ways on", () => {
		expect(() => compare(scenario(), args, standing().world)).toThrow(
			expect.objectContaining({
				code: "baseline-missing",
				exit: 2,
				message: expect.stringMatching(
					/^s\.yaml: "p99 <= baseline \+ 10%" compares with a baseline, and there is none\.\nRecord one: --baseline none.*\nOr name one: --baseline <file\|folder>, or baseline: <path> or <system>/,
				),
			}),
		);
	});

	test("is left out by --baseline none, which says so; its figure will be in the first baseline", () => {
		const { world } = standing();
		const found = compare(scenario(), { ...args, baseline: "none" }, world);
		expect(found.snapshot).toBeNull();
		expect(found.warnings).toEqual(["--baseline none: not judged are p99 <= baseline + 10%"]);
		expect(found.scenario.baselineSla).toHaveLength(1);
		const named = loadScenario(path.join(world.cwd, "s.yaml"), `baseline: ./b.json\n${yaml}`);
		expect(compare(named, { ...args, baseline: "none" }, world).scenario.baseline).toBeNull();
	});

	test("of another case than --only leaves needs no baseline", () => {
		const some = yaml.replace(
			"sla: [p99 <= baseline + 10%]",
			"sla: [{ expect: p99 <= baseline + 10%, case: 1KiB }]",
		);
		const only = { ...args, only: "*/256B" };
		expect(() => compare(scenario(some), only, standing().world)).not.toThrow();
	});

	test("is left aside by --quick, baseline or not", () => {
		const quick = shorten(scenario());
		expect(compare(quick, withFile, standing().world)).toEqual({
			scenario: quick,
			snapshot: null,
			warnings: [],
		});
	});
});

describe("a baseline from a file", () => {
	test("goes into the run's folder as it is, with a name for people", () => {
		const { world, baseline } = standing();
		const found = compare(scenario(), withFile, world);
		expect(found).toMatchObject({ warnings: [] });
		expect(found.snapshot).toEqual({
			schema: 1,
			name: "the baseline of 2026-11-20 (b.json)",
			baseline,
			calibration: null,
		});
	});

	test("of the scenario counts from its folder; the command line's comes before it", () => {
		const { cwd, world } = standing();
		const named = loadScenario(path.join(cwd, "s.yaml"), `baseline: ./b.json\n${yaml}`);
		expect(compare(named, args, world).snapshot?.name).toContain("(b.json)");
		expect(() => compare(named, { ...args, baseline: "other.json" }, world)).toThrow(
			/other\.json: cannot be compared with/,
		);
	});

	test("of a system of the scenario is overridden as well", () => {
		const two = yaml.replace("system: nats", "systems: { nats: nats, new: nats }\nbaseline: nats");
		const { world } = standing();
		const found = compare(scenario(two), withFile, world);
		expect(found.scenario.baseline?.system).toBeNull();
		expect(found.warnings).toEqual([
			"not compared is new, 256B: it has no run of new, 256B",
			"not compared is new, 1KiB: it has no run of new, 1KiB",
		]);
	});

	test("that has none of the runs is refused, with what differs", () => {
		const other = (all: Baseline) => ({
			...all,
			runs: all.runs.map((run) => ({ ...run, system: "redis" })),
		});
		expect(() => compare(scenario(), withFile, standing(other).world)).toThrow(
			/^b\.json: is not a baseline of this scenario: it has no run of nats, 256B\. Record a new one/,
		);
		const faster = scenario(yaml.replace("1000/s", "2000/s"));
		expect(() => compare(faster, withFile, standing().world)).toThrow(
			/other work: load 1000\/s constant against 2000\/s constant/,
		);
	});

	test("that lacks one case is used for the others, with a warning: a new case must not stop the build", () => {
		const lacking = (all: Baseline) => ({
			...all,
			runs: all.runs.filter((run) => run.case !== "1KiB"),
		});
		const { world } = standing(lacking);
		expect(compare(scenario(), withFile, world).warnings).toEqual([
			"not compared is nats, 1KiB: it has no run of nats, 1KiB",
		]);
	});

	test("with fewer than four runs that count and have a line's figure is refused, and says to make it anew", () => {
		const few = (all: Baseline) => ({
			...all,
			runs: all.runs.map((run) => (run.repeat > 3 ? { ...run, without: "invalid" } : run)),
		});
		const having = (runs: number) => (all: Baseline) => ({
			...all,
			runs: all.runs.map((run) => ({
				...run,
				figures: run.repeat > runs ? run.figures : { ...run.figures, "response p95": 1e6 },
			})),
		});
		expect(() => compare(scenario(), withFile, standing(few).world)).toThrow(
			expect.objectContaining({
				code: "baseline-few",
				exit: 2,
				message:
					"b.json: only 3 of its runs of nats, 256B count and have response p99, and a comparison needs 4 on each side to tell a change from noise. Record a new baseline with this scenario and repeat: 5: --baseline none.",
			}),
		);
		const added = scenario(yaml.replace("+ 10%]", "+ 10%, p95 <= baseline + 10%]"));
		expect(() => compare(added, withFile, standing(having(3)).world)).toThrow(
			/only 3 of its runs of nats, 256B count and have response p95/,
		);
		expect(compare(added, withFile, standing(having(4)).world).warnings).toEqual([]);
		// Default lines ask for as many, on either side.
		const plain = yaml.replace("sla: [p99 <= baseline + 10%]\n", "");
		expect(() => compare(scenario(plain), withFile, standing(few).world)).toThrow(
			/only 3 of its runs of nats, 256B count and have figures/,
		);
		const once = scenario(plain.replace("repeat: 5\n", ""));
		expect(() => compare(once, withFile, standing().world)).toThrow(
			"s.yaml: a comparison needs at least 4 runs on each side to tell a change from noise, and repeat is 1; write repeat: 5",
		);
	});

	test("of a search is of the same work when load and SLA are", () => {
		const searched = (limit: string) =>
			scenario(`system: nats
repeat: 5
workload: { rate: 1000/s, message: 256B, find: max-rate }
sla: [p99 < ${limit}]
`);
		const [plan] = expand(searched("10ms"), { runId: "r" });
		const facts = searchFacts(
			{ load: loadOf(plan as Plan) },
			(plan as Plan).sla.map(({ text }) => text),
		);
		const found = (all: Baseline) => ({
			...all,
			works: { [hashOf(facts)]: facts },
			runs: all.runs.slice(0, 5).map((run) => ({
				...run,
				case: plan?.case ?? "",
				work: hashOf(facts),
				figures: { "highest rate": 9000 },
			})),
		});
		const { world } = standing(found);
		expect(compare(searched("10ms"), withFile, world).warnings).toEqual([]);
		expect(() => compare(searched("20ms"), withFile, world)).toThrow(
			/other work: sla p99 < 10ms.* against p99 < 20ms/,
		);
	});
});

describe("a system of the scenario as baseline", () => {
	const ab = `systems: { old: nats, new: nats }\nbaseline: old\n${yaml.replace("system: nats\n", "")}`;

	test("needs nothing from outside", () => {
		expect(compare(scenario(ab), args, standing().world)).toMatchObject({
			snapshot: null,
			warnings: [],
		});
	});
});

describe("what is known of this machine's noise", () => {
	const noise = (work: string) => ({
		system: "nats",
		case: "256B",
		work,
		metric: "response p99",
		runs: 10,
		each: 5,
		halfWidth: 0.1,
		detectable: 0.2,
	});
	const calibration = (work: string, machine = here) => ({
		schema: 1 as const,
		scenario: "s",
		runId: "c",
		machine,
		noise: [noise(work)],
	});

	test("is taken from the file that --calibration names, unless that is another machine's or of other work", () => {
		const { cwd, world, baseline } = standing();
		const work = baseline.runs[0]?.work ?? "";
		const named = { ...withFile, calibration: "c.json" };
		const write = (value: object) => writeFileSync(path.join(cwd, "c.json"), JSON.stringify(value));
		write(calibration(work));
		expect(compare(scenario(), named, world).snapshot?.calibration).toEqual(calibration(work));
		for (const other of [
			calibration(work, { ...here, fingerprint: "other" }),
			calibration("other"),
		]) {
			write(other);
			expect(compare(scenario(), named, world)).toMatchObject({
				snapshot: { calibration: null },
				warnings: ["the calibration is of another machine or of other work, and is not used"],
			});
		}
		write({});
		expect(() => compare(scenario(), named, world)).toThrow(
			expect.objectContaining({ code: "calibration-unreadable", exit: 2 }),
		);
	});
});
