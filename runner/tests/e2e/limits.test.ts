import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { findOnPath } from "../../../infra/local/program.ts";
import { resultOf, run, scenario, standing, temporaryFolder } from "./mqbench.ts";

/** Twelve messages, one byte above what each system takes by its config. */
async function exceed(systems: string, sla: string) {
	const folder = temporaryFolder();
	const file = path.join(folder, "scenario.yaml");
	const out = path.join(folder, "out");
	writeFileSync(
		file,
		`name: limits
systems:
${systems}
workload: { rate: 4/s, duration: 3s, warmup: 0s, drain: 5s }
cases: [{ message: limit }, { message: limit + 1B }]
sla: ${sla}
`,
	);
	const { code, out: terminal, err } = await run([file, "--out", out]);
	return { code, err, terminal: terminal.replaceAll(/\s+/g, " "), out };
}

const missing = findOnPath("mosquitto", process.env) === null;
const skipped = missing && process.env.CI !== "true";

describe("more connections than ulimit -n allows", () => {
	const under = ["sh", "-c", 'ulimit -n 256; exec "$@"', "sh"];
	const load = { connections: "300" };

	test("are refused before a broker of this machine is started", async () => {
		const folder = temporaryFolder();
		const file = scenario(folder, load, { system: "redis" });
		const out = path.join(folder, "out");
		const { code, err } = await run([file, "--out", out], { under });
		expect(code).toBe(3);
		expect(err).toContain(
			"redis: 300 connections need at least 332 open files, and this machine allows 256 (ulimit -H -n). Raise that limit",
		);
		expect(existsSync(out)).toBe(false);
	});

	test("are refused by the load generator before the first of them", { tags: "long" }, async () => {
		const folder = temporaryFolder();
		await standing(folder, scenario(folder));
		const [broker] = JSON.parse(readFileSync(path.join(folder, "rig.json"), "utf8")).brokers;
		const file = scenario(folder, load);
		const out = path.join(folder, "out");
		const { code, out: terminal } = await run([file, "--url", broker.url, "--out", out], { under });
		expect(code).toBe(3);
		expect(terminal.replaceAll(/\s+/g, " ")).toContain(
			"open nats: 300 connections need at least 332 open files, and this machine allows 256 (ulimit -H -n); raise that limit",
		);
	});
});

describe("one byte above the limit", () => {
	test("NATS refuses every message, which is what the SLA asks for", { tags: "long" }, async () => {
		const { code, err, terminal, out } = await exceed(
			"  nats: { broker: nats, config: { max_payload: 1000 } }",
			"[lost == 0, { expect: p50 < 5s, case: limit }, { expect: failed == 0, case: limit }, { expect: failed == all, case: limit + 1B }]",
		);
		expect(code, err).toBe(0);
		const [at, above] = resultOf(out).runs;
		expect(at).toMatchObject({ received: 12, failed: 0, lost: 0 });
		expect(at?.load).toMatchObject({ messageBytes: 1000, limitBytes: null });
		expect(above).toMatchObject({ received: 0, failed: 12, lost: 0 });
		expect(above?.load).toMatchObject({ messageBytes: 1001, limitBytes: 1000 });
		expect(terminal).toContain(
			"refused: 12 of 12 (nats: publish: the client library (nats.go) refuses it: nats: maximum payload exceeded)",
		);
	});

	test.skipIf(skipped)(
		`mosquitto acknowledges every message of MQTT 3.1.1 and loses it, and refuses those of MQTT 5${skipped ? " (missing: mosquitto)" : ""}`,
		{ tags: "long" },
		async () => {
			const config = "config: { message_size_limit: 1000 }";
			const { code, err, terminal, out } = await exceed(
				`  old: { broker: mqtt, server: mosquitto, protocol: "3.1.1", ${config} }
  new: { broker: mqtt, server: mosquitto, ${config} }`,
				"[lost == 0, { expect: p50 < 5s, case: limit }]",
			);
			expect(code, err).toBe(99);
			const { runs, gates } = resultOf(out);
			expect(runs.slice(0, 2)).toMatchObject([
				{ received: 12, lost: 0 },
				{ received: 12, lost: 0 },
			]);
			expect(runs.slice(2)).toMatchObject([
				{ system: "old", acked: 12, received: 0, lost: 12, failed: 0 },
				{ system: "new", acked: 0, received: 0, lost: 0, failed: 12 },
			]);
			expect(gates.filter(({ verdict }) => verdict !== "pass")).toMatchObject([
				{ sla: "lost == 0", system: "old", verdict: "fail" },
			]);
			expect(terminal).toContain(
				"old: lost silently: 12 of 12 were acknowledged and never arrived",
			);
			expect(terminal).toContain(
				"new: refused: 12 of 12 (mqtt: the server refuses the message: packet too large (reason code 149))",
			);
		},
	);
});
