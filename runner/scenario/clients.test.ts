import { describe, expect, test } from "vitest";
import { loadScenario } from "./load.ts";

describe("what comes back to its sender comes back to the same client", () => {
	/** By the placement: does each message arrive on the client that sent it? */
	function home(n: number, c: number, producers: number, topics: number): boolean {
		return Array.from({ length: producers }, (_, p) => p).every((p) => {
			const sender = (p % c) % n;
			const receiver = ((p % topics) % c) % n;
			return sender === receiver;
		});
	}

	test("topologies are taken if and only if it holds", () => {
		let taken = 0;
		let refused = 0;
		for (const n of [2, 3, 4])
			for (const c of [n, n + 1, 2 * n, 3 * n])
				for (const producers of [c, c + 1, 2 * c])
					for (let topics = 1; topics <= producers; topics++) {
						const text = `clients: ${n}\nsystem: nats\nworkload: { rate: 3/s, message: 256B, duration: 9s, connections: ${c}, producers: ${producers}, topics: ${topics} }\n`;
						if (home(n, c, producers, topics)) {
							loadScenario("s.yaml", text);
							taken++;
						} else {
							expect(() => loadScenario("s.yaml", text), text).toThrow(
								`messages of one client would come back to another`,
							);
							refused++;
						}
					}
		expect(taken).toBeGreaterThan(30);
		expect(refused).toBeGreaterThan(30);
	});
});
