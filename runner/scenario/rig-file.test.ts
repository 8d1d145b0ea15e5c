import { describe, expect, test } from "vitest";
import { goldenBlocks } from "../tests/golden.fake.ts";
import { parseRig } from "./rig-file.ts";

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

describe("each mistake is one sentence with its place, and tells no password", () => {
	goldenBlocks(
		new URL("./golden/rig-mistakes.txt", import.meta.url),
		(given) => wrong(given).join("\n"),
		(found) => expect(found).not.toMatch(/hunter2|\n|taken/),
	);

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
