import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { brokerOf, SystemOptions } from "../../runner/brokers/index.ts";
import type { Level } from "../../runner/model/plan.ts";
import type { System } from "../../runner/scenario/scenario.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import { shellBroker } from "../nodes/shell.fake.ts";
import { descendants, runs } from "../processes.fake.ts";
import { realBinaries } from "../programs/real.fake.ts";
import type { Broker, Disturbance } from "../rig.ts";
import { testFolder } from "../test-folder.fake.ts";
import { localRig } from "./local.ts";
import { findOnPath } from "./program.ts";

const binaries = await realBinaries();

interface Opened {
	readonly broker: Broker;
	/** Lines of its log. */
	log(): string[];
	/** Sentences about nodes that died. */
	readonly deaths: string[];
	/** Ctrl-C. */
	interrupt(): void;
}

/** Brings a broker up; it is gone when the test is over. */
async function open(
	written: Readonly<Record<string, unknown>>,
	kind?: ReturnType<typeof shellBroker>,
): Promise<Opened> {
	const options = SystemOptions.parse(written);
	const stop = new AbortController();
	const rig = await localRig(
		fakeWorld({ env: process.env, stop: stop.signal }),
		binaries,
		kind && { [options.broker]: kind },
	);
	onTestFinished(() => rig.teardown());
	const logPath = path.join(testFolder(), "broker.log");
	const broker = await rig.open({
		system: {
			key: "mine",
			broker: options.broker,
			port: null,
			url: null,
			binary: null,
			options: kind ? { ...options, nodes: kind.nodes } : options,
			traits: brokerOf(options).traits(options),
		} as unknown as System,
		level: ("durability" in options ? options.durability : null) as Level,
		messageBytes: 256,
		cpus: null,
		logPath,
	});
	const deaths: string[] = [];
	void broker.died.then((how) => deaths.push(how));
	return {
		broker,
		deaths,
		log: () => readFileSync(logPath, "utf8").trim().split("\n"),
		interrupt: () => stop.abort("SIGINT"),
	};
}

const some = (action: Disturbance["action"], node: number | null = null): Disturbance => ({
	action,
	node,
	delayNs: null,
});

const LIVES = "echo ready; exec sleep 100";
const nats = { broker: "nats" };

describe("a node that is killed", () => {
	test("is gone with what it has started, the others go on, and nobody calls it a death", async () => {
		const { broker, deaths, log } = await open(
			nats,
			shellBroker([LIVES, "sleep 100 & sleep 100 & echo ready; wait", LIVES]),
		);
		const [first = 0, second = 0, third = 0] = broker.pids;
		const below = descendants(second);
		expect(below).toHaveLength(2);
		await broker.disturb(some("kill", 2));
		await expect.poll(() => runs(second)).toBe(false);
		for (const { pid } of below) await expect.poll(() => runs(pid)).toBe(false);
		expect([first, third].map(runs)).toEqual([true, true]);
		expect(broker.pids).toEqual([first, second, third]);
		await expect
			.poll(log)
			.toContainEqual(
				expect.stringMatching(
					/^\[2\] \d{4}-\d\d-\d\dT[\d:.]+Z mqbench: killed node 2 \(SIGKILL\)$/,
				),
			);
		await broker.close();
		expect([first, third].map(runs)).toEqual([false, false]);
		expect(deaths).toEqual([]);
	});

	test("comes back as another process with the same command, folder and log, and is ready when that is told", async () => {
		const { broker, deaths, log } = await open(
			nats,
			shellBroker([
				LIVES,
				`echo begin >> times; sleep 0.2; echo "begun $(wc -l < times)"; ${LIVES}`,
			]),
		);
		const before = broker.pids;
		const back = await broker.disturb(some("kill", 2));
		await back();
		// What the first one has used still counts.
		expect(broker.pids).toEqual([...before, expect.any(Number)]);
		expect(broker.pids.map(runs)).toEqual([true, false, true]);
		const said = () =>
			log()
				.map((line) => line.replace(/\S+Z mqbench/, "mqbench"))
				.filter((line) => line.startsWith("[2]"));
		await expect
			.poll(said)
			.toEqual([
				"[2] begun 1",
				"[2] ready",
				"[2] mqbench: killed node 2 (SIGKILL)",
				"[2] mqbench: started node 2 again",
				"[2] begun 2",
				"[2] ready",
				"[2] mqbench: node 2 is ready again",
			]);
		expect(deaths).toEqual([]);
	});

	test("and has come back is told of when it dies by itself then", async () => {
		const { broker, deaths } = await open(nats, shellBroker([LIVES, LIVES]));
		await (await broker.disturb(some("kill", 2)))();
		process.kill(broker.pids.at(-1) ?? 0, "SIGKILL");
		await expect.poll(() => deaths).toEqual(["node 2 of 2 ended by itself (SIGKILL)"]);
	});

	test("is not brought back while the broker is closed; nothing is left of it", async () => {
		const { broker, log } = await open(
			nats,
			shellBroker([LIVES, `test -e once && exec sleep 100; touch once; ${LIVES}`]),
		);
		const back = await broker.disturb(some("kill", 2));
		const told = expect(back()).rejects.toThrow("the run is over");
		await expect.poll(log).toContainEqual(expect.stringMatching(/started node 2 again/));
		const all = descendants(process.pid).map(({ pid }) => pid);
		await broker.close();
		await told;
		expect(all.filter(runs)).toEqual([]);
		await expect(back()).rejects.toThrow("the run is over");
	});

	test("cannot be killed once more, and is not brought back after Ctrl-C", async () => {
		const { broker, interrupt } = await open(nats, shellBroker([LIVES, LIVES]));
		const back = await broker.disturb(some("kill", 2));
		await expect(broker.disturb(some("kill", 2))).rejects.toThrow("node 2 is down already");
		interrupt();
		await expect(back()).rejects.toThrow("the run is over");
		expect(broker.pids.map(runs)).toEqual([true, false]);
	});

	test("and cannot start again is one sentence with its last words", async () => {
		const { broker, deaths } = await open(
			nats,
			shellBroker([LIVES, `test -e once && { echo disk on fire; exit 3; }; touch once; ${LIVES}`]),
		);
		const back = await broker.disturb(some("kill", 2));
		await expect(back()).rejects.toThrow(
			"node 2 was started again and ended: exit code 3, last words: [2] disk on fire",
		);
		expect(deaths).toEqual([]);
	});

	test.each(["kill", "restart", "pause"] as const)(
		"is left alone while it comes up again (%s)",
		async (action) => {
			const { broker } = await open(
				nats,
				shellBroker([`test -e once && sleep 0.5; touch once; ${LIVES}`]),
			);
			const coming = (await broker.disturb(some("kill")))();
			await expect.poll(() => descendants(process.pid).length).toBe(3);
			await expect(broker.disturb(some(action))).rejects.toThrow(
				"node 1 is not up again after the previous fault; leave more time between faults",
			);
			await coming;
		},
	);
});

test("a node that is restarted may end in order first, and is down when that is told", async () => {
	const { broker, log, deaths } = await open(
		nats,
		shellBroker(["trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done"]),
	);
	const [pid = 0] = broker.pids;
	const back = await broker.disturb(some("restart"));
	expect(runs(pid)).toBe(false);
	await back();
	expect(broker.pids.map(runs)).toEqual([false, true]);
	const said = () => log().map((line) => line.replace(/^\S+Z /, ""));
	await expect
		.poll(said)
		.toEqual([
			"ready",
			"mqbench: asked node 1 to end (SIGTERM)",
			"bye",
			"mqbench: node 1 has ended",
			"mqbench: started node 1 again",
			"ready",
			"mqbench: node 1 is ready again",
		]);
	expect(deaths).toEqual([]);
});

test("what cannot be done is one sentence, and the numbers of nodes are those at the end of their names", async () => {
	const { broker } = await open(nats, shellBroker([LIVES, LIVES]));
	for (const action of ["partition", "latency"] as const)
		await expect(broker.disturb(some(action))).rejects.toThrow(
			"mqbench has no network of its own here",
		);
	await expect(broker.disturb(some("kill", 3))).rejects.toThrow("there is no node 3");
	const names = ["mqbench-2", "1", "3", "0", "rabbit@host", ""];
	expect(names.map(broker.nodeOf)).toEqual([2, 1, null, null, null, null]);
});

// Its daemons outlive it. Missing tools are named, and fail in CI.
const noRabbit = findOnPath("rabbitmq-server", process.env) === null;
test.skipIf(noRabbit && !process.env.CI)(
	`rabbitmq-server${noRabbit ? " (missing)" : ""} comes up again under its name after kill, and nothing of it is left`,
	{ tags: "long" },
	async () => {
		const { broker, deaths, log } = await open({ broker: "rabbitmq" });
		await (await broker.disturb(some("kill")))();
		expect(log().join("\n")).not.toMatch(/mkfifo|already running/);
		const all = broker.pids.flatMap((pid) => [pid, ...descendants(pid).map((one) => one.pid)]);
		await broker.close();
		expect(all.filter(runs)).toEqual([]);
		expect(deaths).toEqual([]);
	},
);
