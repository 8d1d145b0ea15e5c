import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { variable } from "../brokers/index.ts";
import { Plan } from "../model/plan.ts";
import { fakeWorld } from "../world.fake.ts";
import { plan } from "./plan.ts";
import { validate } from "./validate.ts";

const cwd = fileURLToPath(new URL("../../", import.meta.url));
const quickstart = "scenarios/quickstart.yaml";
const deep = "sla.0=p99.99 < 3ms";

describe("mqbench plan", () => {
	test("lists the runs that --only leaves, and what they carry", async () => {
		const world = fakeWorld({ cwd });
		expect(await plan({ path: "scenarios/message-sizes.yaml", only: "*/1KiB*" }, world)).toBe(0);
		expect(world.out()).toContain("1 run: 35s of sending");
		expect(world.out()).not.toContain("Warning");
		expect(world.err()).toBe("");
	});

	test("names every program, file, image, cluster and variable that a scenario has it use", async () => {
		const folder = testFolder();
		const printed = async (text: string, env = {}) => {
			writeFileSync(
				path.join(folder, "s.yaml"),
				`${text}\nworkload: { rate: 10/s, message: 64B, duration: 1s }\n`,
			);
			const world = fakeWorld({ cwd: folder, env });
			await plan({ path: "s.yaml" }, world);
			return (/What it starts and reads:\s*(.*?)\n\n/s.exec(world.out())?.[1] ?? "")
				.replaceAll(/\n {2}(?! )/g, "|")
				.replaceAll(/\s+/g, " ");
		};
		writeFileSync(path.join(folder, "payload.bin"), "x");
		expect(
			await printed(
				`systems: { a: nats, b: { broker: nats, binary: "${variable("BUILD")}/nats-server" } }\nbaseline: base.json\nrepeat: 5\ncases: [{ payload: { file: payload.bin } }]`,
				{ BUILD: "/opt/new", NATS_TOKEN: "x" },
			),
		).toBe(
			`a: program nats-server, built with mqbench.|b: program /opt/new/nats-server.|files: ${folder}/payload.bin, ${folder}/base.json.|variables of the environment: BUILD, NATS_TOKEN.`,
		);
		expect(
			await printed(
				`target: existing\nsystem: { broker: nats, url: "${variable("HERE")}", tls: { ca: ca.pem } }\nclients: { kubernetes: 1 }\nkubernetes: { context: prod }`,
				{ HERE: "nats://h:4222" },
			),
		).toBe(
			`cluster: context prod.|image busybox:1.37.0 for the load generator pods.|files: ${folder}/ca.pem.|variables of the environment: HERE.`,
		);
	});

	test("warns of an SLA that the samples do not carry", async () => {
		const world = fakeWorld({ cwd });
		expect(await plan({ path: quickstart, set: [deep] }, world)).toBe(0);
		expect(world.out()).toContain(
			"Warning: p99.99 < 3ms (256B 3000/s): 30 000 samples carry no p99.99.",
		);
	});

	test("refuses it under strict, with exit code 2, and says it once", async () => {
		const world = fakeWorld({ cwd });
		await expect(
			plan({ path: quickstart, set: [deep, "strict=true"] }, world),
		).rejects.toMatchObject({
			exit: 2,
			message: expect.stringContaining(
				"scenarios/quickstart.yaml: strict: true, and the samples do not carry what sla asks for.\np99.99 < 3ms",
			),
		});
		expect(world.out()).toContain("1 run: ");
		expect(world.out()).not.toContain("Warning");
	});

	test("prints the plans as JSON, and warnings beside them", async () => {
		const world = fakeWorld({ cwd });
		await plan({ path: quickstart, json: true, set: [deep] }, world);
		const plans = JSON.parse(world.out());
		expect(plans.map((one: unknown) => Plan.parse(one))).toHaveLength(1);
		expect(world.err()).toMatch(/^Warning: p99\.99 < 3ms/);
	});

	describe("of a search", () => {
		const withSearch = () => {
			const folder = testFolder();
			writeFileSync(
				path.join(folder, "find.yaml"),
				"system: nats\nworkload: { rate: 300/s, message: 256B, find: max-rate, duration: 5s, warmup: 2s }\nsla: [p99.99 < 50ms]\nstrict: true\n",
			);
			return fakeWorld({ cwd: folder });
		};

		test("says how many runs it may make and how long they send, and is not refused for a percentile that its runs last for", async () => {
			const world = withSearch();
			expect(await plan({ path: "find.yaml" }, world)).toBe(0);
			expect(world.out().replaceAll(/\s+/g, " ")).toMatch(
				/^1\. nats\/256B 300\/s: a search, find: max-rate: usually 10 to 25 runs; the first takes 2\.5min/,
			);
			// Its duration of 5s is shorter than any run that is made.
			expect(world.out().replaceAll(/\s+/g, " ")).toContain(
				"256B 300/s: round-trip of 256B, 300/s at first, after 2s warm-up;",
			);
			expect(world.out()).not.toContain("5s");
			expect(world.out()).not.toMatch(/1 run|7s|Percentiles|Warning/);
		});

		test("validate does not call it one run", async () => {
			const world = withSearch();
			expect(await validate({ path: "find.yaml" }, world)).toBe(0);
			expect(world.out()).toBe(
				"find.yaml is valid: 1 search (times: mqbench plan), 1 system (nats), 1 case\n",
			);
		});
	});
});
