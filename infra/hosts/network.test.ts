import { describe, expect, test } from "vitest";
import { type Ping, pingOf } from "../ping.ts";
import type { Client } from "../rig.ts";
import { networkBaseline } from "./network.ts";

const PINGED: Ping = { connects: 20, minNs: 61_000, p50Ns: 74_000, maxNs: 1_210_000 };

/** A client that writes down the address that it was to connect to. */
function client(
	index: number,
	kind: Client["kind"],
	ping: (address: string) => Promise<Ping> = async () => PINGED,
) {
	const asked: string[] = [];
	return {
		index,
		kind,
		asked,
		ping: (address: string) => {
			asked.push(address);
			return ping(address);
		},
	};
}

const URL = "nats://me:s3cr3t@10.0.0.5:4222,10.0.0.6:4223";
const broker = { url: URL, ports: { nats: 4222 }, onHosts: false };

describe("the network is measured", () => {
	test("from each host to each node", async () => {
		const clients = [client(0, "ssh"), client(1, "ssh")];
		const found = await networkBaseline()({ ...broker, clients });
		expect(found).toEqual(
			[0, 1].flatMap((client) => [1, 2].map((node) => ({ client, node, ...PINGED, error: null }))),
		);
		for (const { asked } of clients) expect(asked).toEqual(["10.0.0.5:4222", "10.0.0.6:4223"]);
	});

	test("once in a command for each pair of machines, whatever listens there", async () => {
		const baseline = networkBaseline();
		const one = client(0, "ssh");
		const first = await baseline({ ...broker, clients: [one] });
		const again = await baseline({
			clients: [one],
			url: "10.0.0.6,10.0.0.5,10.0.0.7",
			ports: { kafka: 9092 },
			onHosts: false,
		});
		expect(first).toHaveLength(2);
		expect(again.map(({ node }) => node)).toEqual([1, 2, 3]);
		expect(one.asked).toEqual(["10.0.0.5:4222", "10.0.0.6:4223", "10.0.0.7:9092"]);
	});

	test("from this machine where mqbench has started the broker on hosts", async () => {
		const one = client(0, "local");
		const there = await networkBaseline()({ ...broker, clients: [one], onHosts: true });
		expect(there).toHaveLength(2);
	});

	test("but of nothing else", async () => {
		const clients = [client(0, "local"), client(1, "docker")];
		const { ping: _, ...silent } = client(2, "ssh");
		const baseline = networkBaseline();
		expect(await baseline({ ...broker, clients })).toEqual([]);
		expect(await baseline({ ...broker, clients: [silent] })).toEqual([]);
		const ssh = [client(0, "ssh")];
		expect(await baseline({ ...broker, clients: ssh, url: "" })).toEqual([]);
	});

	test("and what cannot be is not known, with the reason, until it can be before another run", async () => {
		const baseline = networkBaseline();
		let said = "agent: connect to 10.0.0.5:4222: connection refused\n";
		const one = client(0, "ssh", async () => pingOf(said));
		const url = "nats://10.0.0.5:4222";
		const found = async () => (await baseline({ ...broker, clients: [one], url }))[0];
		const nothing = { connects: null, minNs: null, p50Ns: null, maxNs: null };
		const error = "connect to 10.0.0.5:4222: connection refused";
		expect(await found()).toEqual({ client: 0, node: 1, ...nothing, error });
		said = JSON.stringify(PINGED);
		expect(await found()).toMatchObject({ ...PINGED, error: null });
		await found();
		expect(one.asked).toHaveLength(2);
	});
});

describe("what agent has said", () => {
	test("is a result", () => {
		expect(pingOf(`${JSON.stringify(PINGED)}\n`)).toEqual(PINGED);
	});

	test.each([
		["", "agent said nothing"],
		["flag provided but not defined: -ping", "flag provided but not defined: -ping"],
		['{"connects":20}', 'agent said {"connects":20}'],
		["null", "agent said null"],
	])("or not: %j", (said, why) => {
		expect(() => pingOf(said)).toThrow(why);
	});
});
