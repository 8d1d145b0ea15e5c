import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { variable } from "../brokers/index.ts";
import type { ExitCode } from "../errors.ts";
import { Plan } from "../model/plan.ts";
import { packageFolder } from "../package.ts";
import { fakeWorld } from "../world.fake.ts";
import type { World } from "../world.ts";
import { compile } from "./compile.ts";
import { plan } from "./plan.ts";
import { validate } from "./validate.ts";

const quickstart = "scenarios/quickstart.yaml";
const sizes = "scenarios/message-sizes.yaml";
const deep = "sla.0=p99.99 < 3ms";

/** The output for one of mqbench's scenarios. `flat`: without line breaks. */
async function of<Args>(
	command: (args: Args, world: World) => Promise<ExitCode>,
	args: Args,
	parts: Partial<World> = {},
) {
	const world = fakeWorld({ cwd: packageFolder, ...parts });
	const code = await command(args, world);
	return { code, out: world.out(), flat: world.out().replaceAll(/\s+/g, " "), err: world.err() };
}

function folderWith(text: string): string {
	const cwd = testFolder();
	writeFileSync(path.join(cwd, "s.yaml"), text);
	return cwd;
}

describe("validate", () => {
	test.each([
		[quickstart, {}, "1 run, 1 system (nats), 1 case, 15s and drain"],
		[sizes, {}, "3 runs, 1 system (nats), 3 cases, 1min 45s and drain"],
		[
			sizes,
			{ only: "*/1KiB*", set: ["repeat=2"] },
			"2 runs, 1 system (nats), 1 case, 1min 10s and drain",
		],
	])("says how much %s would do", async (file, args, summary) => {
		const { code, out } = await of(validate, { path: file, ...args });
		expect({ code, out }).toEqual({ code: 0, out: `${file} is valid: ${summary}\n` });
	});

	test("--json prints each mistake with code, place and remedy, and none of a file that is right", async () => {
		const cwd = folderWith(
			"system: { broker: nats, password: hunter2 }\nworkload:\n  message: 256B\n  duration: 10\n",
		);
		const args = { json: true, path: "s.yaml", set: ["workload.rate=3"] };
		const { code, out } = await of(validate, args, { cwd });
		expect(code).toBe(2);
		expect(JSON.parse(out)).toMatchObject([
			{
				option: "--set workload.rate=3",
				line: null,
				column: null,
				message: "rate 3 has no unit",
				remedy: "write 3/s",
			},
			{ code: "unrecognized_keys", file: "s.yaml", line: 1, column: 25 },
			{
				code: "invalid_type",
				line: 4,
				column: 13,
				option: null,
				message: "duration 10 has no unit",
				remedy: "write 10s",
			},
		]);
		expect(out).not.toContain("hunter2");
		const right = await of(validate, { json: true, path: quickstart });
		expect(right).toMatchObject({ code: 0, out: "[]\n" });
		await expect(of(validate, { json: true, path: "none.yaml" })).rejects.toMatchObject({
			code: "scenario-unreadable",
		});
	});
});

describe("plan", () => {
	test("lists the runs that --only leaves, and what they carry", async () => {
		const { code, out, err } = await of(plan, { path: sizes, only: "*/1KiB*" });
		expect({ code, err }).toEqual({ code: 0, err: "" });
		expect(out).toContain("1 run: 35s of sending");
		expect(out).not.toContain("Warning");
	});

	test("names every program, file, image, cluster and variable that a scenario has it use", async () => {
		const printed = async (text: string, env = {}) => {
			const cwd = folderWith(`${text}\nworkload: { rate: 10/s, message: 64B, duration: 1s }\n`);
			writeFileSync(path.join(cwd, "payload.bin"), "x");
			const { out } = await of(plan, { path: "s.yaml" }, { cwd, env });
			return (/What it starts and reads:\s*(.*?)\n\n/s.exec(out)?.[1] ?? "")
				.replaceAll(/\n {2}(?! )/g, "|")
				.replaceAll(/\s+/g, " ")
				.replaceAll(`${cwd}/`, "");
		};
		expect(
			await printed(
				`systems: { a: nats, b: { broker: nats, binary: "${variable("BUILD")}/nats-server" } }\nbaseline: base.json\nrepeat: 5\ncases: [{ payload: { file: payload.bin } }]`,
				{ BUILD: "/opt/new", NATS_TOKEN: "x" },
			),
		).toBe(
			"a: program nats-server, built with mqbench.|b: program /opt/new/nats-server.|files: payload.bin, base.json.|variables of the environment: BUILD, NATS_TOKEN.",
		);
		expect(
			await printed(
				`target: existing\nsystem: { broker: nats, url: "${variable("HERE")}", tls: { ca: ca.pem } }\nclients: { kubernetes: 1 }\nkubernetes: { context: prod }`,
				{ HERE: "nats://h:4222" },
			),
		).toBe(
			"cluster: context prod.|image busybox:1.37.0 for the load generator pods.|files: ca.pem.|variables of the environment: HERE.",
		);
	});

	test("prints the plans as JSON, and warnings beside them", async () => {
		const { out, err } = await of(plan, { path: quickstart, json: true, set: [deep] });
		expect(JSON.parse(out).map((one: unknown) => Plan.parse(one))).toHaveLength(1);
		expect(err).toMatch(/^Warning: p99\.99 < 3ms/);
	});
});

describe("an SLA that the samples do not carry", () => {
	test("is a warning of plan and validate", async () => {
		const planned = await of(plan, { path: quickstart, set: [deep] });
		expect(planned.code).toBe(0);
		expect(planned.out).toContain(
			"Warning: p99.99 < 3ms (256B 3000/s): 30 000 samples carry no p99.99.",
		);
		const validated = await of(validate, { path: quickstart, set: [deep] });
		expect(validated.code).toBe(0);
		expect(validated.err).toMatch(/^Warning: p99\.99 < 3ms .*34s/);
	});

	test("is refused by both under strict, with exit code 2, and said once", async () => {
		const args = { path: quickstart, set: [deep, "strict=true"] };
		const error = {
			exit: 2,
			code: "percentile-too-deep",
			message: expect.stringContaining(
				"scenarios/quickstart.yaml: strict: true, and the samples do not carry what sla asks for.\np99.99 < 3ms",
			),
		};
		await expect(of(validate, args)).rejects.toMatchObject(error);
		const world = fakeWorld({ cwd: packageFolder });
		await expect(plan(args, world)).rejects.toMatchObject(error);
		expect(world.out()).toContain("1 run: ");
		expect(world.out()).not.toContain("Warning");
	});
});

test("a search: plan says how many runs it may make and how long they send, validate does not call it one run", async () => {
	// strict does not refuse a percentile that its runs support.
	const cwd = folderWith(
		"system: nats\nworkload: { rate: 300/s, message: 256B, find: max-rate, duration: 5s, warmup: 2s }\nsla: [p99.99 < 50ms]\nstrict: true\n",
	);
	const { flat } = await of(plan, { path: "s.yaml" }, { cwd });
	expect(flat).toMatch(
		/^1\. nats\/256B 300\/s: a search, find: max-rate, in steps of 5s \(below 20 000\/s longer, up to [^,]+, because p99\.99 needs the messages\), .* A run of 2min 28s confirms .* At most \d+ runs and [^,]+ of sending/,
	);
	expect(flat).toContain("256B 300/s: round-trip of 256B, 300/s at first, after 2s warm-up;");
	expect(flat).not.toMatch(/\b1 run|7s|Percentiles|Warning/);
	expect((await of(validate, { path: "s.yaml" }, { cwd })).out).toBe(
		"s.yaml is valid: 1 search (times: npx mqbench plan), 1 system (nats), 1 case\n",
	);
});

test("compile shows the script of the first run that is asked for, or the plan that it opens", async () => {
	const { code, out } = await of(compile, { path: sizes, only: "*/5KiB*" });
	expect(code).toBe(0);
	expect(out).toMatch(/^\/\/ message-sizes: nats, case "5KiB 2000\/s", repeat 1 of 1\n/);
	const planned = await of(compile, { path: quickstart, plan: true });
	expect(JSON.parse(planned.out)).toMatchObject({
		scenario: "quickstart",
		schedule: { messages: 45_000 },
	});
});
