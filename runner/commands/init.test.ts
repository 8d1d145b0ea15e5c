import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { brokerOf, realBrokers, SystemOptions } from "../brokers/index.ts";
import { PATTERNS } from "../model/workload.ts";
import { loadScenario } from "../scenario/load.ts";
import { fakeWorld } from "../world.fake.ts";
import { init } from "./init.ts";

const pairs = realBrokers.flatMap((broker) => {
	const { cannot } = brokerOf({ broker }).traits(
		SystemOptions.parse({ broker }),
	);
	return PATTERNS.filter((pattern) => !cannot[pattern]).map(
		(pattern) => [broker, pattern] as const,
	);
});

test.each(pairs)(
	"a new scenario for %s, %s is valid as it is",
	async (broker, pattern) => {
		const cwd = testFolder();
		const world = fakeWorld({ cwd });
		expect(await init({ name: "new", broker, pattern, yes: true }, world)).toBe(
			0,
		);
		const text = readFileSync(path.join(cwd, "new.yaml"), "utf8");
		expect(loadScenario("new.yaml", text)).toMatchObject({ name: "new" });
		expect(existsSync(path.join(cwd, "scenario.schema.json"))).toBe(true);
		expect(world.out()).toContain("mqbench plan new.yaml");
	},
);

describe("a person at the terminal", () => {
	const answering = (...answers: string[]) => {
		const asked: string[] = [];
		const cwd = testFolder();
		const world = fakeWorld({
			cwd,
			ask: async (question) => {
				asked.push(question);
				return answers.shift() ?? "";
			},
		});
		return { world, cwd, asked };
	};

	test("is asked, and may take every default by Enter", async () => {
		const { world, cwd, asked } = answering();
		await init({}, world);
		expect(asked).toHaveLength(7);
		const scenario = loadScenario(
			"s.yaml",
			readFileSync(path.join(cwd, "my-scenario.yaml"), "utf8"),
		);
		expect(scenario.systems[0]?.key).toBe("nats");
	});

	test("is told what is wrong with an answer, and asked again", async () => {
		const { world, cwd } = answering("nast", "nats", "", "3000", "500/s");
		await init({}, world);
		expect(world.err()).toContain("nast is no broker here");
		expect(readFileSync(path.join(cwd, "my-scenario.yaml"), "utf8")).toContain(
			"rate: 500/s",
		);
	});

	test("is not asked for what an option says", async () => {
		const { world, asked } = answering();
		await init({ broker: "nats", rate: "5/s" }, world);
		expect(asked.join()).not.toContain("Broker");
	});
});

test("the variable of a URL need not be set yet", async () => {
	const cwd = testFolder();
	await init({ broker: "nats", url: "NATS_URL" }, fakeWorld({ cwd }));
	expect(readFileSync(path.join(cwd, "my-scenario.yaml"), "utf8")).toContain(
		// biome-ignore lint/suspicious/noTemplateCurlyInString: the scenario's own syntax.
		'url: "${NATS_URL}"',
	);
});

test("a file that is there already is left alone", async () => {
	const cwd = testFolder();
	writeFileSync(path.join(cwd, "mine.yaml"), "mine");
	await expect(init({ name: "mine" }, fakeWorld({ cwd }))).rejects.toThrow(
		/mine.yaml exists already/,
	);
	expect(readFileSync(path.join(cwd, "mine.yaml"), "utf8")).toBe("mine");
});

test("a wrong option is one sentence", async () => {
	await expect(
		init({ rate: "fast" }, fakeWorld({ cwd: testFolder() })),
	).rejects.toThrow(/^--rate: /);
});
