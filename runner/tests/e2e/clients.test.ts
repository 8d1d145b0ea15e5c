import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { alive } from "../../../infra/processes.fake.ts";
import { ResourceLine } from "../../model/resource-file.ts";
import { filesOf, measured, measuring, signal } from "./mqbench.ts";

const THREE = { clients: "3" };
const ON_SIX = { connections: "6" };

describe("three clients on this machine", () => {
	test("share the messages: all counts add up, each leaves its files, and none of what they use together falls as one ends", async () => {
		const made = await measured({ rate: "1000/s", ...ON_SIX }, THREE);
		expect(made.err).toContain("3 clients");
		expect(made.run).toMatchObject({
			intended: 1000,
			notOffered: 0,
			sent: 1000,
			failed: 0,
			received: 1000,
			lost: 0,
			duplicated: 0,
			metrics: { response: { count: 1000 } },
		});
		const files = filesOf(path.join(made.results, made.run.folder));
		for (const client of [0, 1, 2])
			expect(files).toEqual(
				expect.arrayContaining([`client-${client}.hlog`, `client-${client}.jsonl`]),
			);
		const { error, clients } = made.runFile;
		expect(error).toBeNull();
		expect(clients).toHaveLength(3);
		for (const client of clients) {
			expect(client).toMatchObject({ k6Exit: 0, clock: null, error: null });
			// Long before T0, which is a second ahead of them.
			expect(client.firstClaimNs).toBeLessThan(0);
		}
		const cpu = readFileSync(made.ofRun("resources.jsonl"), "utf8")
			.trim()
			.split("\n")
			.flatMap((line) => ResourceLine.parse(JSON.parse(line)).generator?.cpuNs ?? []);
		expect(cpu).toEqual(cpu.toSorted((a, b) => a - b));
		expect(cpu.at(-1)).toBeGreaterThan(0);
	});

	test("one of which is killed: it is named, the others end at once, and the run is INVALID", {
		tags: "long",
	}, async () => {
		const made = await measuring({ duration: "30s", ...ON_SIX }, THREE);
		const { mqbench, children } = made;
		const began = Date.now();
		signal(children, "k6", "SIGKILL");
		const { code, err } = await mqbench.ended;
		expect(code, err).toBe(4);
		// Not after the 30 s of the load, and those of the drain.
		expect(Date.now() - began).toBeLessThan(25_000);
		expect(err).toMatch(/client \d \(.*\): k6 ended with SIGKILL/);
		const { clients, error } = made.runFile;
		expect(error).toBeNull();
		expect(clients.filter((one) => one.k6Signal === "SIGKILL")).toHaveLength(1);
		expect(clients.filter((one) => one.error !== null)).toHaveLength(1);
		expect(made.result.verdict).toBe("invalid");
		expect(JSON.stringify(made.run.validity)).toMatch(/client \d .*k6 ended with SIGKILL/);
		// What the others have measured is there.
		expect(made.run.metrics.response?.count).toBeGreaterThan(100);
		expect(alive(children)).toEqual([]);
	});
});
