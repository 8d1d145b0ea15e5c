import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import type { InstallMachine } from "../brokers/server.ts";
import { systems } from "../init/systems.ts";
import { PATTERNS } from "../model/load.ts";
import { loadScenario } from "../scenario/load.ts";
import { shellWord } from "../shell.ts";
import { fakeWorld } from "../world.fake.ts";
import { type InitArgs, init } from "./init.ts";

/** Makes a scenario in an empty folder, on a machine with every broker but some; `asked`: the questions. */
async function start(
	args: InitArgs,
	{
		lines,
		answers,
		missing = [],
	}: { lines?: string[]; answers?: string[]; missing?: string[] } = {},
) {
	const there = (program: string) => !missing.includes(program);
	const java = 'openjdk version "21.0.1"';
	const machine: InstallMachine = {
		run: async (program) =>
			there(program) ? (program === "java" ? java : "Redis server v=7.0.0") : null,
		which: async (program) => (there(program) ? program : null),
	};
	const asked: string[] = [];
	const ask = async (question: string) => {
		asked.push(question);
		return answers?.shift() ?? "";
	};
	const world = fakeWorld({
		cwd: testFolder(),
		ask: answers === undefined ? null : ask,
		nextLine: lines && (async () => lines.shift() ?? null),
	});
	const code = await init(args, world, machine);
	const read = (file = "my-scenario.yaml") => readFileSync(path.join(world.cwd, file), "utf8");
	return { code, world, asked, read, out: world.out(), err: world.err() };
}

const pairs = systems().flatMap(({ word, traits }) =>
	PATTERNS.filter((pattern) => !traits.cannot[pattern]).map((pattern) => [word, pattern] as const),
);

test.each(pairs)("a new scenario for %s, %s is valid as it is", async (broker, pattern) => {
	const made = await start({ name: "new", broker, pattern, yes: true });
	expect(made).toMatchObject({ code: 0, err: "" });
	expect(loadScenario("new.yaml", made.read("new.yaml"))).toMatchObject({ name: "new" });
	expect(made.read("scenario.schema.json")).toContain("mqbench");
	expect(made.out).toContain("\n  npx mqbench plan new.yaml\n");
});

test.each(systems().filter(({ traits }) => traits.partitions))(
	"consumers of a work queue on $word have a partition each",
	async ({ word: broker }) => {
		const { read } = await start({ broker, pattern: "work-queue", yes: true });
		expect(read()).toMatch(/consumers: 2\n {2}partitions: 2 /);
	},
);

describe("a person at the terminal", () => {
	test("is asked, and may take every default by Enter", async () => {
		const { asked, read } = await start({}, { answers: [] });
		expect(asked).toHaveLength(7);
		expect(loadScenario("s.yaml", read()).systems[0]?.key).toBe("nats");
	});

	test("is told what is wrong with an answer, and asked again", async () => {
		const answers = ["nast", "nats", "", "3000", "500/s"];
		const { err, read } = await start({}, { answers });
		expect(err).toContain('unknown system "nast"; did you mean nats?');
		expect(read()).toContain("rate: 500/s");
	});

	test("is not asked for what an option says", async () => {
		const { asked } = await start({ broker: "nats", rate: "5/s" }, { answers: [] });
		expect(asked.join()).not.toContain("System");
	});
});

describe("answers that are piped", () => {
	test("are read line by line, and the rest is taken as offered", async () => {
		const { err, read } = await start({}, { lines: ["kafka", "work-queue", "", "256B"] });
		expect(read()).toMatch(/system: kafka\n[\s\S]*work-queue[\s\S]*1000\/s[\s\S]*256B/);
		expect(err).toMatch(/^System \(nats, .*\) \[nats\]: kafka\n/);
		expect(err).toMatch(
			/\nNo more answers. Using the defaults: duration 30s, limit of p99 20ms\n$/,
		);
	});

	test("end with the first that is wrong: the next one answers another question", async () => {
		await expect(start({}, { lines: ["nast", "nats"] })).rejects.toThrow(
			/^unknown system "nast"; did you mean nats\?/,
		);
	});

	test("may be none", async () => {
		expect((await start({}, { lines: [] })).err).toBe(
			"No answers on standard input. Using the defaults: system nats, pattern round-trip, rate 1000/s, message size 1KiB, duration 30s, limit of p99 20ms\n",
		);
	});
});

test("a broker that is not on this machine is not offered, but may be chosen, for a container", async () => {
	const { err } = await start({}, { lines: ["nats"], missing: ["java"] });
	expect(err).not.toContain("kafka");
	const { out } = await start({ broker: "kafka", yes: true }, { missing: ["java"] });
	expect(out).toContain("npx mqbench my-scenario.yaml --target docker\n");
	expect(out).toContain("Kafka needs Java");
});

describe("the file", () => {
	test.each([
		["bench/orders.yaml", "bench/orders.yaml", "orders"],
		["bench/orders", "bench/orders.yaml", "orders"],
		["bench/", "bench/my-scenario.yaml", "my-scenario"],
		["two words/orders", "two words/orders.yaml", "orders"],
	])("%s is written where it says", async (given, file, name) => {
		const { world, read, out } = await start({ name: given, yes: true });
		expect(loadScenario(file, read(file))).toMatchObject({ name });
		const schema = path.join(world.cwd, path.dirname(file), "scenario.schema.json");
		expect(existsSync(schema)).toBe(true);
		expect(out).toContain(`npx mqbench plan ${shellWord(file)}\n`);
	});

	test.each<[string, InitArgs, string]>([
		[
			"starts no server that there is not",
			{ broker: "zeromq" },
			"# Clients connect to each other, without a server. ",
		],
		["has the names that others give a system", { broker: "JetStream" }, "mode: jetstream }\n"],
		// biome-ignore lint/suspicious/noTemplateCurlyInString: the scenario's own syntax.
		["may name a variable that is not set yet", { url: "NATS_URL" }, 'url: "${NATS_URL}"'],
	])("%s", async (_, args, words) => {
		expect((await start({ ...args, yes: true })).read()).toContain(words);
	});

	test.each<[string, InitArgs, string]>([
		["a name that is none", { name: "bench/my orders" }, "bench/my orders: a name must have only"],
		["a wrong option", { rate: "fast" }, "--rate: "],
		["a limit without a unit", { p99: "20" }, "--p99: p99 20 has no unit; write 20ms"],
	])("%s is refused in one sentence", async (_, args, message) => {
		await expect(start(args)).rejects.toThrow(message);
	});

	test("that is there already is left alone", async () => {
		const world = fakeWorld({ cwd: testFolder() });
		const file = path.join(world.cwd, "mine.yaml");
		writeFileSync(file, "mine");
		await expect(init({ name: "mine" }, world)).rejects.toThrow(/mine.yaml exists already/);
		expect(readFileSync(file, "utf8")).toBe("mine");
	});
});
