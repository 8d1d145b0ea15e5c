import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { fakeWorld } from "../runner/world.fake.ts";
import { readScenario } from "./read-scenario.ts";
import { testFolder } from "./test-folder.fake.ts";

const scenario = "system: nats\nworkload: { rate: 3/s, message: 256B, duration: 9s }\n";

function written(rig: unknown): string {
	const folder = testFolder();
	writeFileSync(path.join(folder, "s.yaml"), scenario);
	writeFileSync(path.join(folder, "rig.json"), JSON.stringify(rig));
	return folder;
}

test("--rig is read from the current folder; keys of its clients count from its own", async () => {
	const cwd = written({
		version: 1,
		id: "x",
		brokers: [{ system: "nats", broker: "nats", url: "nats://h" }],
		clients: [{ host: "a", identity: "keys/a", knownHosts: "known" }],
	});
	const read = await readScenario("s.yaml", { rig: "rig.json" }, fakeWorld({ cwd }));
	expect(read.scenario).toMatchObject({
		rig: { id: "x" },
		systems: [{ url: "nats://h" }],
		clients: {
			access: { a: { identity: path.join(cwd, "keys/a"), knownHosts: path.join(cwd, "known") } },
		},
	});
});

test("keys of hosts for brokers count from the rig's folder as well; ~ is ssh's to know", async () => {
	const cwd = written({
		version: 1,
		id: "x",
		brokers: [
			{
				system: "nats",
				broker: "nats",
				hosts: [
					{ host: "a", address: "10.0.0.1", identity: "id", knownHosts: "known" },
					{ host: "b", address: "10.0.0.2", identity: "~/.ssh/id" },
				],
			},
		],
	});
	const read = await readScenario("s.yaml", { rig: "rig.json" }, fakeWorld({ cwd }));
	expect(read.scenario.rig?.brokers[0]?.hosts).toMatchObject([
		{ identity: path.join(cwd, "id"), knownHosts: path.join(cwd, "known") },
		{ identity: "~/.ssh/id" },
	]);
});

test("a rig that would have ssh add a line to some other file is refused", async () => {
	const cwd = written({
		version: 1,
		id: "x",
		brokers: [{ system: "nats", broker: "nats", url: "nats://h" }],
		clients: [{ host: "reboot", knownHosts: "s.yaml" }],
	});
	await expect(
		readScenario("s.yaml", { rig: "rig.json" }, fakeWorld({ cwd })),
	).rejects.toMatchObject({
		code: "rig-invalid",
		message: `rig.json: knownHosts: ${path.join(cwd, "s.yaml")} does not contain known hosts, and ssh would add a line to it. Name a file for them, e.g. known_hosts`,
	});
});

test("a rig that is not there, or is none, is named before anything else", async () => {
	const cwd = written({ version: 1, id: "x", brokers: [] });
	await expect(readScenario("s.yaml", { rig: "other.json" }, fakeWorld({ cwd }))).rejects.toThrow(
		"other.json: cannot be read (there is no such file). Give the rig.json that npx mqbench up has written",
	);
	await expect(readScenario("s.yaml", { rig: "rig.json" }, fakeWorld({ cwd }))).rejects.toThrow(
		"rig.json: brokers: Too small: expected array to have >=1 items",
	);
});
