import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { System } from "../../runner/scenario/scenario.ts";
import type { BrokerRequest } from "../rig.ts";
import { existingRig } from "./existing.ts";
import { nodesHere } from "./reach.ts";

const at = (url: string | null): BrokerRequest => ({
	system: { key: "mine", broker: "nats", port: null, url } as System,
	level: null,
	messageBytes: 256,
	cpus: null,
	logPath: "",
});

async function listening() {
	const server = createServer((socket) => socket.on("error", () => {}));
	await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
	onTestFinished(() => void server.close());
	return { server, port: (server.address() as { port: number }).port };
}

test("a broker that listens is left as it is, and its URL goes to the driver whole", async () => {
	const { port } = await listening();
	const url = `nats://me:pw@127.0.0.1:${port}`;
	const rig = existingRig(new AbortController().signal);
	const broker = await rig.open(at(url));
	expect(broker).toMatchObject({
		url,
		// The test itself listens.
		pids: [process.pid],
		binary: null,
		sameHost: true,
	});
	await broker.close();
	await rig.teardown();
	// It still listens.
	await rig.open(at(url));
});

test("a port at which nothing listens is named with host and reason, without the password", async () => {
	const { port, server } = await listening();
	await new Promise((down) => server.close(down));
	await expect(
		existingRig(new AbortController().signal).open(at(`nats://me:pw@127.0.0.1:${port}`)),
	).rejects.toMatchObject({
		code: "broker-unreachable",
		exit: 3,
		message: `mine: nothing answers at 127.0.0.1:${port} (connection refused). Start the broker there, or correct the url.`,
	});
});

test.each(["[::1]", "[0:0:0:0:0:0:0:1]", "127.9.9.9", "localhost"])(
	"%s is this machine, and is named as a URL has it",
	async (host) => {
		const url = `nats://${host}:1`;
		expect(nodesHere(url, { nats: 4222 }).sameHost).toBe(true);
		await expect(existingRig(new AbortController().signal).open(at(url))).rejects.toThrow(
			`mine: nothing answers at ${host}:1 (`,
		);
	},
);

test("a host that does not exist is named", async () => {
	await expect(
		existingRig(new AbortController().signal).open(at("nats://no-such-host.invalid")),
	).rejects.toThrow("mine: nothing answers at no-such-host.invalid:4222 (");
});

test("of several hosts one that answers is enough; none of them are all named", async () => {
	const { port, server } = await listening();
	const rig = existingRig(new AbortController().signal);
	await rig.open(at(`nats://me:a,b@127.0.0.1:1,127.0.0.1:${port}`));
	await new Promise((down) => server.close(down));
	await expect(rig.open(at(`nats://127.0.0.1:1,127.0.0.1:${port}`))).rejects.toThrow(
		`mine: nothing answers at 127.0.0.1:1, 127.0.0.1:${port} (connection refused).`,
	);
});

test("a system without a URL has nothing to ask", async () => {
	expect(await existingRig(new AbortController().signal).open(at(null))).toMatchObject({ url: "" });
});

test("Ctrl-C ends the asking", async () => {
	const { port } = await listening();
	await expect(
		existingRig(AbortSignal.abort("SIGINT")).open(at(`nats://127.0.0.1:${port}`)),
	).rejects.toMatchObject({ code: "interrupted" });
});

test("where the load is in a cluster nothing is asked from here", async () => {
	const rig = existingRig(new AbortController().signal, false);
	const broker = await rig.open(at("nats://10.96.0.7:4222"));
	expect(broker).toMatchObject({ url: "nats://10.96.0.7:4222", sameHost: false, pids: [] });
});
