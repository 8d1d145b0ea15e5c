import { createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { RigFile, type RigFileInput } from "../../runner/scenario/rig-file.ts";
import type { System } from "../../runner/scenario/scenario.ts";
import { type BrokerRequest, untouchedBroker } from "../rig.ts";
import { existingRig, standingRig } from "./existing.ts";
import { nodesHere } from "./reach.ts";

const at = (url: string | null, parts: Partial<System> = {}): BrokerRequest => ({
	system: { key: "mine", broker: "nats", port: null, url, ...parts } as System,
	level: null,
	messageBytes: 256,
	cpus: null,
	logPath: "",
});

/** A URL at which something listens; `end` ends that. */
async function listening(login = "me:pw") {
	const server = createServer((socket) => socket.on("error", () => {}));
	await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
	onTestFinished(() => void server.close());
	const { port } = server.address() as { port: number };
	const end = () => new Promise((down) => server.close(down));
	return { url: `nats://${login}@127.0.0.1:${port}`, port, end };
}

describe("somebody else's broker", () => {
	const rig = existingRig(new AbortController().signal);

	test("that listens is left as it is, and its URL goes to the driver whole", async () => {
		const { url } = await listening();
		const broker = await rig.open(at(url));
		// The test itself listens.
		expect(broker).toMatchObject({ url, pids: [process.pid], binary: null, sameHost: true });
		await broker.close();
		await rig.teardown();
		// It still listens.
		await rig.open(at(url));
	});

	test("that does not is named with host and reason, without the password", async () => {
		const { url, port, end } = await listening();
		await end();
		await expect(rig.open(at(url))).rejects.toMatchObject({
			code: "broker-unreachable",
			exit: 3,
			message: `mine: nothing answers at 127.0.0.1:${port} (connection refused). Start the broker there, or correct the url.`,
		});
		await expect(rig.open(at("nats://no-such-host.invalid"))).rejects.toThrow(
			"mine: nothing answers at no-such-host.invalid:4222 (",
		);
	});

	test.each(["[::1]", "[0:0:0:0:0:0:0:1]", "127.9.9.9", "localhost"])(
		"at %s is on this machine, and is named as its URL has it",
		async (host) => {
			const url = `nats://${host}:1`;
			expect(nodesHere(url, { nats: 4222 }).sameHost).toBe(true);
			await expect(rig.open(at(url))).rejects.toThrow(`mine: nothing answers at ${host}:1 (`);
		},
	);

	test("of several nodes needs one that answers; if none does all are named", async () => {
		const { port, end } = await listening();
		await rig.open(at(`nats://me:a,b@127.0.0.1:1,127.0.0.1:${port}`));
		await end();
		await expect(rig.open(at(`nats://127.0.0.1:1,127.0.0.1:${port}`))).rejects.toThrow(
			`mine: nothing answers at 127.0.0.1:1, 127.0.0.1:${port} (connection refused).`,
		);
	});

	test("without a URL has nothing to ask, and where the load is in a cluster nothing is asked from here", async () => {
		expect(await rig.open(at(null))).toMatchObject({ url: "" });
		const url = "nats://10.96.0.7:4222";
		const inCluster = existingRig(new AbortController().signal, false);
		expect(await inCluster.open(at(url))).toMatchObject({ url, sameHost: false, pids: [] });
	});

	test("is not waited for after Ctrl-C", async () => {
		const { url } = await listening();
		await expect(existingRig(AbortSignal.abort("SIGINT")).open(at(url))).rejects.toMatchObject({
			code: "interrupted",
		});
	});
});

describe("a rig that stays up", () => {
	const standing = (
		entry: Partial<RigFileInput["brokers"][number]>,
		parts: Partial<RigFileInput> = {},
		did: string[] = [],
	) =>
		standingRig(
			RigFile.parse({
				version: 1,
				id: "x",
				brokers: [{ system: "mine", broker: "nats", ...entry }],
				...parts,
			}),
			new AbortController().signal,
			{
				async open({ hosts }, { system }) {
					did.push(`${system.key} on ${hosts[0]?.host}`);
					return { ...untouchedBroker(), sameHost: false };
				},
				async close() {
					did.push("closed");
				},
			},
		);

	test("has brokers that are what its file says, and are there afterwards", async () => {
		const { url } = await listening();
		const told = { settings: { sync_interval: "always" }, topology: "3 nodes on 3 hosts" };
		const rig = standing({ url, server: "nats-server 2.15.2", ...told });
		const broker = await rig.open(at(url));
		expect(broker).toMatchObject({
			...told,
			url,
			version: "nats-server 2.15.2",
			binary: null,
			// The test itself listens.
			pids: [process.pid],
			sameHost: true,
		});
		await broker.close();
		await rig.teardown();
		await rig.open(at(url));
	});

	test("refuses a run that asks for another broker, and says what differs", async () => {
		const { url } = await listening();
		const rig = standing({ url, asked: { nodes: 3, version: "2.9" } }, { target: "local" });
		await expect(rig.open(at(url, { options: { nodes: 1 } as never }))).rejects.toMatchObject({
			code: "rig-differs",
			exit: 2,
			message:
				"mine: the scenario asks for another broker than the rig x has: nodes 1 (the rig: 3), version not given (the rig: 2.9). Measure with what the rig was stood up with, or stand another one up: npx mqbench up.",
		});
		await rig.open(at(url, { options: { nodes: 3, version: "2.9" } as never }));
	});

	test.each([
		["local", /Is npx mqbench up still running\?/],
		["existing", /Start the broker there, or correct the url in the rig's file\./],
	] as const)(
		"of target %s that is gone says what to do, without the password",
		async (target, remedy) => {
			const url = "nats://me:hunter2@127.0.0.1:1";
			const refused = standing({ url }, { target }).open(at(url));
			await expect(refused).rejects.toMatchObject({ code: "rig-unreachable", exit: 3 });
			await expect(refused).rejects.toThrow(
				"mine: nothing answers at 127.0.0.1:1 (connection refused), where the rig x has its broker.",
			);
			await expect(refused).rejects.toThrow(remedy);
		},
	);

	test("is not needed by a system without a process", async () => {
		const rig = standing({ url: "nats://127.0.0.1:1" });
		expect(await rig.open(at(null, { key: "floor", broker: "noop" }))).toMatchObject({ url: "" });
	});

	test("with hosts gets a new broker on them for every run, and lets go of them at the end", async () => {
		const did: string[] = [];
		const rig = standing({ hosts: [{ host: "h1", address: "10.0.0.5" }] }, {}, did);
		for (const _ of [1, 2]) expect(await rig.open(at(null))).toMatchObject({ sameHost: false });
		await rig.teardown();
		expect(did).toEqual(["mine on h1", "mine on h1", "closed"]);
	});
});
