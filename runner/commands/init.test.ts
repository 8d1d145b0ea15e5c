import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import type { InstallMachine } from "../brokers/server.ts";
import { PATTERNS } from "../model/pattern.ts";
import { loadScenario } from "../scenario/load.ts";
import { systems } from "../scenario/reference.ts";
import { shellWord } from "../shell.ts";
import { fakeWorld } from "../world.fake.ts";
import type { World } from "../world.ts";
import { type InitArgs, init } from "./init.ts";

/** Has every broker, or all but some. */
const machine = (...missing: string[]): InstallMachine => ({
	run: async (program) =>
		missing.includes(program)
			? null
			: program === "java"
				? 'openjdk version "21.0.1"'
				: "Redis server v=7.0.0",
	which: async (program) => (missing.includes(program) ? null : program),
});
const start = (args: InitArgs, world: World, ...missing: string[]) =>
	init(args, world, machine(...missing));

const pairs = systems().flatMap(({ word, traits }) =>
	PATTERNS.filter((pattern) => !traits.cannot[pattern]).map((pattern) => [word, pattern] as const),
);

test.each(pairs)("a new scenario for %s, %s is valid as it is", async (broker, pattern) => {
	const cwd = testFolder();
	const world = fakeWorld({ cwd });
	expect(await start({ name: "new", broker, pattern, yes: true }, world)).toBe(0);
	const text = readFileSync(path.join(cwd, "new.yaml"), "utf8");
	expect(loadScenario("new.yaml", text)).toMatchObject({ name: "new" });
	expect(existsSync(path.join(cwd, "scenario.schema.json"))).toBe(true);
	expect(world.out()).toContain("\n  npx mqbench plan new.yaml\n");
	expect(world.err()).toBe("");
});

test.each(systems().filter(({ traits }) => traits.partitions))(
	"consumers of a work queue on $word have a partition each",
	async ({ word: broker }) => {
		const cwd = testFolder();
		await start({ broker, pattern: "work-queue", yes: true }, fakeWorld({ cwd }));
		expect(written(cwd)).toMatch(/consumers: 2\n {2}partitions: 2 /);
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
		await start({}, world);
		expect(asked).toHaveLength(7);
		const scenario = loadScenario("s.yaml", written(cwd));
		expect(scenario.systems[0]?.key).toBe("nats");
	});

	test("is told what is wrong with an answer, and asked again", async () => {
		const { world, cwd } = answering("nast", "nats", "", "3000", "500/s");
		await start({}, world);
		expect(world.err()).toContain('unknown system "nast"; did you mean nats?');
		expect(written(cwd)).toContain("rate: 500/s");
	});

	test("is not asked for what an option says", async () => {
		const { world, asked } = answering();
		await start({ broker: "nats", rate: "5/s" }, world);
		expect(asked.join()).not.toContain("System");
	});
});

describe("answers that are piped", () => {
	const piping = (...lines: string[]) => {
		const cwd = testFolder();
		const nextLine = async () => lines.shift() ?? null;
		return { cwd, world: fakeWorld({ cwd, nextLine }) };
	};

	test("are read line by line, and the rest is taken as offered", async () => {
		const { cwd, world } = piping("kafka", "work-queue", "", "256B");
		await start({}, world);
		expect(written(cwd)).toMatch(/system: kafka\n[\s\S]*work-queue[\s\S]*1000\/s[\s\S]*256B/);
		expect(world.err()).toMatch(/^System \(nats, .*\) \[nats\]: kafka\n/);
		expect(world.err()).toMatch(
			/\nNo more answers. Using the defaults: duration 30s, limit of p99 20ms\n$/,
		);
	});

	test("end with the first that is wrong: the next one answers another question", async () => {
		const { cwd, world } = piping("nast", "nats");
		await expect(start({}, world)).rejects.toThrow(/^unknown system "nast"; did you mean nats\?/);
		expect(existsSync(path.join(cwd, "my-scenario.yaml"))).toBe(false);
	});

	test("may be none", async () => {
		const { world } = piping();
		await start({}, world);
		expect(world.err()).toBe(
			"No answers on standard input. Using the defaults: system nats, pattern round-trip, rate 1000/s, message size 1KiB, duration 30s, limit of p99 20ms\n",
		);
	});
});

describe("a broker that is not on this machine", () => {
	test("is not offered", async () => {
		const lines = ["nats"];
		const world = fakeWorld({ cwd: testFolder(), nextLine: async () => lines.shift() ?? null });
		await start({}, world, "java");
		expect(world.err()).not.toContain("kafka");
	});

	test("may be chosen, for a container", async () => {
		const world = fakeWorld({ cwd: testFolder() });
		await start({ broker: "kafka", yes: true }, world, "java");
		expect(world.out()).toContain("npx mqbench my-scenario.yaml --target docker\n");
		expect(world.out()).toContain("Kafka needs Java");
	});
});

describe("the file", () => {
	test.each([
		["bench/orders.yaml", "bench/orders.yaml", "orders"],
		["bench/orders", "bench/orders.yaml", "orders"],
		["bench/", "bench/my-scenario.yaml", "my-scenario"],
		["two words/orders", "two words/orders.yaml", "orders"],
	])("%s is written where it says", async (given, file, name) => {
		const cwd = testFolder();
		const world = fakeWorld({ cwd });
		await start({ name: given, yes: true }, world);
		const text = readFileSync(path.join(cwd, file), "utf8");
		expect(loadScenario(file, text)).toMatchObject({ name });
		const folder = path.join(cwd, path.dirname(file));
		expect(existsSync(path.join(folder, "scenario.schema.json"))).toBe(true);
		expect(world.out()).toContain(`npx mqbench plan ${shellWord(file)}\n`);
	});

	test("whose name is none is refused", async () => {
		await expect(
			start({ name: "bench/my orders" }, fakeWorld({ cwd: testFolder() })),
		).rejects.toThrow("bench/my orders: a name must have only letters");
	});
});

test("a system has the names that others give it", async () => {
	const cwd = testFolder();
	await start({ broker: "JetStream", yes: true }, fakeWorld({ cwd }));
	expect(written(cwd)).toContain("system: { broker: nats, mode: jetstream }\n");
});

test("the variable of a URL need not be set yet", async () => {
	const cwd = testFolder();
	await start({ broker: "nats", url: "NATS_URL" }, fakeWorld({ cwd }));
	expect(written(cwd)).toContain(
		// biome-ignore lint/suspicious/noTemplateCurlyInString: the scenario's own syntax.
		'url: "${NATS_URL}"',
	);
});

test("a file that is there already is left alone", async () => {
	const cwd = testFolder();
	writeFileSync(path.join(cwd, "mine.yaml"), "mine");
	await expect(start({ name: "mine" }, fakeWorld({ cwd }))).rejects.toThrow(
		/mine.yaml exists already/,
	);
	expect(readFileSync(path.join(cwd, "mine.yaml"), "utf8")).toBe("mine");
});

test("a wrong option is one sentence", async () => {
	await expect(start({ rate: "fast" }, fakeWorld({ cwd: testFolder() }))).rejects.toThrow(
		/^--rate: /,
	);
});

// --- internal ---

function written(cwd: string): string {
	return readFileSync(path.join(cwd, "my-scenario.yaml"), "utf8");
}
