import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { processes } from "../../runner/brokers/index.ts";
import { hostSetup } from "./setup.fake.ts";
import { checkPorts, listening } from "./taken.ts";

/** A line of /proc/net/tcp or tcp6: at this address, port 4222. */
const row = (address: string, port = 4222, state = "0A") =>
	`   0: ${address}:${port.toString(16).toUpperCase().padStart(4, "0")} ${"0".repeat(address.length)}:0000 ${state} 00000000:00000000 00:00000000 00000000\n`;

const FD00_5 = "000000FD000000000000000005000000";

describe("a port is taken where somebody listens", () => {
	test.each([
		["at its address", "0500000A", "10.0.0.5", true],
		["at another one", "0600000A", "10.0.0.5", false],
		["at all", "00000000", "10.0.0.5", true],
		["at all of IPv6", "0".repeat(32), "10.0.0.5", true],
		["mapped", "0000000000000000FFFF00000500000A", "10.0.0.5", true],
		["at one of IPv6", FD00_5, "fd00::5", true],
		["in another form", FD00_5, "FD00:0:0:0:0:0:0:0005", true],
		["at another of IPv6", FD00_5, "fd00::6", false],
		["at all, and it is of IPv6", "0".repeat(32), "fd00::5", true],
		["at all of IPv4 alone", "00000000", "fd00::5", false],
	])("%s: %s for %s", (_, address, ip, taken) => {
		expect(listening(row(address), ip).has(4222)).toBe(taken);
		expect(listening(row(address, 4222, "01"), ip).size).toBe(0);
	});

	test.runIf(process.platform === "linux").each(["127.0.0.1", "::1"])(
		"as this kernel writes %s",
		async (ip) => {
			const server = createServer();
			onTestFinished(() => void server.close());
			await new Promise<void>((resolve) => server.listen(0, ip, resolve));
			const { port } = server.address() as AddressInfo;
			const said = ["tcp", "tcp6"].map((one) => readFileSync(`/proc/net/${one}`, "utf8")).join("");
			expect(listening(said, ip).has(port)).toBe(true);
			expect(listening(said, ip.replace("1", "9")).has(port)).toBe(false);
		},
	);
});

describe("each port that a node needs is looked at, and no other", () => {
	const LOOPBACK = "0100007F";
	const OWN = "0100000A";
	test.each([
		["nats", 1, OWN, 4222, true],
		["nats", 1, OWN, 8222, false],
		["nats", 3, OWN, 6222, true],
		["nats", 3, OWN, 8222, true],
		["kafka", 1, OWN, 9093, true],
		["redis", 1, OWN, 6379, true],
		["redis", 1, LOOPBACK, 6379, false],
		["rabbitmq", 1, OWN, 5672, true],
		["rabbitmq", 1, LOOPBACK, 5672, false],
		["rabbitmq", 1, LOOPBACK, 25_673, true],
		["rabbitmq", 1, LOOPBACK, 4370, true],
		["rabbitmq", 1, OWN, 4370, false],
	] as const)("%s of %i, %s port %i", async (name, count, at, port, taken) => {
		const kind = processes[name];
		if (!kind) throw new Error("it has no process");
		const setup = hostSetup({ broker: "redis" });
		const looked = checkPorts(kind, {
			...setup,
			nodes: Array.from({ length: count }, () => setup.nodes[0] as never),
			ask: async () => ({ code: 0, said: row(at, port) }),
		});
		if (taken) await expect(looked).rejects.toThrow(`mine: port ${port} is taken on h1. `);
		else await looked;
	});
});
