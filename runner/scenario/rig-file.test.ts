import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { realBrokers } from "../brokers/index.ts";
import { parseRig, rigSchemaText } from "./rig-file.ts";

const minimal = {
	version: 1,
	id: "x",
	brokers: [{ system: "nats", broker: "nats", url: "nats://10.0.0.5:4222" }],
};
const text = (value: unknown) => JSON.stringify(value);
const wrong = (value: unknown): string[] => {
	const found = parseRig(typeof value === "string" ? value : text(value));
	return "wrong" in found ? found.wrong : ["(taken)"];
};
const [broker] = minimal.brokers;
const onHosts = (hosts: unknown[], clients: unknown[] = []) => ({
	...minimal,
	brokers: [{ ...broker, url: undefined, hosts }],
	clients,
});

test("a minimal one by hand stands for brokers that were there before", () => {
	expect(parseRig(text(minimal))).toEqual({
		rig: {
			version: 1,
			id: "x",
			target: "existing",
			expiresAt: null,
			brokers: [
				{
					...broker,
					server: "",
					level: null,
					messageBytes: null,
					settings: {},
					topology: null,
					machine: null,
					nodesShareHost: false,
					sameHost: false,
					asked: null,
					hosts: [],
				},
			],
			clients: [],
			cloud: null,
			facts: {},
		},
	});
});

test("rig.schema.json is in step with it (npm run golden rewrites it)", () => {
	const file = new URL("../../infra/rig.schema.json", import.meta.url);
	if (process.env.UPDATE_GOLDEN === "1") writeFileSync(file, rigSchemaText());
	expect(readFileSync(file, "utf8")).toBe(rigSchemaText());
});

describe("each mistake is one sentence with its place, and tells no password", () => {
	test.each<[string, unknown, string]>([
		[
			"no JSON",
			'{ "url": "nats://me:hunter2@h" ',
			"it is not JSON; mqbench schema rig shows its form",
		],
		["a list", "[]", "the file must be a map"],
		["another version", { ...minimal, version: 2 }, "version is unknown; write 1"],
		["no name", { ...minimal, id: undefined }, "id is missing; write text"],
		[
			"a name that is no part of others",
			{ ...minimal, id: "a b" },
			"id must have letters, digits, - _ and dots, at most 63 of them, and begin with a letter or digit",
		],
		[
			"a target that there is not",
			{ ...minimal, target: "azure" },
			'target is unknown; write "local" or "existing" or "aws"',
		],
		["no broker", { ...minimal, brokers: [] }, "brokers is empty; write a value"],
		[
			"a broker without url",
			{ ...minimal, brokers: [{ ...broker, url: undefined }] },
			"brokers[0].url is missing; write text, or hosts on which mqbench starts it",
		],
		[
			"a url that is none",
			{ ...minimal, brokers: [{ ...broker, url: 5 }] },
			"brokers[0].url must be text",
		],
		[
			"a kind that there is not",
			{ ...minimal, brokers: [{ ...broker, broker: "hunter2" }] },
			`brokers[0].broker is unknown; write ${realBrokers.map((one) => `"${one}"`).join(" or ")}`,
		],
		[
			"an unknown key",
			{ ...minimal, brokers: [{ ...broker, adress: "nats://me:hunter2@h" }] },
			"brokers[0].adress is an unknown key; remove it (mqbench schema rig lists all)",
		],
		[
			"a size in words",
			{ ...minimal, brokers: [{ ...broker, messageBytes: "1KiB" }] },
			"brokers[0].messageBytes must be a number",
		],
		[
			"a size below one",
			{ ...minimal, brokers: [{ ...broker, messageBytes: 0 }] },
			"brokers[0].messageBytes must be above 0",
		],
		[
			"a time in words",
			{ ...minimal, expiresAt: "tomorrow" },
			"expiresAt must be a time such as 2026-11-20T10:00:00Z",
		],
		[
			"a port above all",
			{ ...minimal, clients: [{ host: "a", port: 70_000 }] },
			"clients[0].port must be at most 65535",
		],
		[
			"a host that is an option of ssh",
			{ ...minimal, clients: [{ host: "-oProxyCommand=x" }] },
			"clients[0].host must be a name or an address, as ssh takes it",
		],
		...["h1", "10.0.0", "10.0.0.5:4222", "fe80::1%eth0"].map(
			(address): [string, unknown, string] => [
				`an address that is none: ${address}`,
				onHosts([{ host: "h1", address }]),
				"brokers[0].hosts[0].address: must be an IPv4 or IPv6 address, at which the host's broker listens",
			],
		),
		[
			"a loopback, and clients elsewhere",
			onHosts([{ host: "h1", address: "127.0.0.1" }], [{ host: "h2" }]),
			"brokers[0].hosts[0].address is a loopback address, which other hosts cannot reach; write the host's address in their network",
		],
		[
			"a loopback, and nodes elsewhere",
			onHosts([
				{ host: "h1", address: "10.0.0.5" },
				{ host: "h2", address: "::1" },
			]),
			"brokers[0].hosts[1].address is a loopback address, which other hosts cannot reach; write the host's address in their network",
		],
		[
			"two brokers of one system",
			{ ...minimal, brokers: [broker, broker] },
			'brokers[1].system: "nats" has a broker already; give each system one',
		],
	])("%s", (_, value, sentence) => {
		expect(wrong(value)).toEqual([sentence]);
		expect(wrong(value).join()).not.toContain("hunter2");
	});

	test.each(["10.0.0.5", "fd00::5"])("%s is an address", (address) => {
		expect(wrong(onHosts([{ host: "h1", address }], [{ host: address }]))).toEqual(["(taken)"]);
	});

	test("of several all are said", () => {
		expect(wrong({ version: 1, id: "", brokers: [] })).toHaveLength(2);
	});
});

test("no name in it can be an option of ssh's", () => {
	for (const host of [{ host: "-oProxyCommand" }, { host: "h", user: "-l" }])
		expect(wrong(onHosts([host])), JSON.stringify(host)).not.toEqual(["(taken)"]);
});
