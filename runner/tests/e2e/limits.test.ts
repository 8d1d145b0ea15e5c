import { describe, expect, test } from "vitest";
import { findOnPath } from "../../../infra/local/program.ts";
import { flat, measured } from "./mqbench.ts";

/** Twelve messages, one byte above what each system takes by its config. */
function exceed(systems: string, sla: string, exit: number) {
	return measured(
		{ rate: "4/s", message: "", duration: "3s", drain: "5s" },
		{ system: "", systems, cases: "[{ message: limit }, { message: limit + 1B }]", sla },
		{ exit: [exit] },
	);
}

const missing = findOnPath("mosquitto", process.env) === null;
const skipped = missing && process.env.CI !== "true";

test("more connections than ulimit -n allows are refused by the load generator before the first of them", async () => {
	const under = ["sh", "-c", 'ulimit -n 256; exec "$@"', "sh"];
	const { out } = await measured({ connections: "300" }, {}, { under, exit: [3] });
	expect(flat(out)).toContain(
		"open nats: 300 connections need at least 332 open files, and this machine allows 256 (ulimit -H -n); raise that limit",
	);
});

describe("one byte above the limit", () => {
	test("NATS refuses every message, which is what the SLA asks for", { tags: "long" }, async () => {
		const { out, result } = await exceed(
			"{ nats: { broker: nats, config: { max_payload: 1000 } } }",
			"[lost == 0, { expect: p50 < 5s, case: limit }, { expect: failed == 0, case: limit }, { expect: failed == all, case: limit + 1B }]",
			0,
		);
		const [at, above] = result.runs;
		expect(at).toMatchObject({ received: 12, failed: 0, lost: 0 });
		expect(at?.load).toMatchObject({ messageBytes: 1000, limitBytes: null });
		expect(above).toMatchObject({ received: 0, failed: 12, lost: 0 });
		expect(above?.load).toMatchObject({ messageBytes: 1001, limitBytes: 1000 });
		expect(flat(out)).toContain(
			"refused: 12 of 12 (nats: publish: the client library (nats.go) refuses it: nats: maximum payload exceeded)",
		);
	});

	test.skipIf(skipped)(
		`mosquitto acknowledges every message of MQTT 3.1.1 and loses it, and refuses those of MQTT 5${skipped ? " (missing: mosquitto)" : ""}`,
		{ tags: "long" },
		async () => {
			const config = "config: { message_size_limit: 1000 }";
			const { out, result } = await exceed(
				`{ old: { broker: mqtt, server: mosquitto, protocol: "3.1.1", ${config} }, new: { broker: mqtt, server: mosquitto, ${config} } }`,
				"[lost == 0, { expect: p50 < 5s, case: limit }]",
				99,
			);
			const { runs, gates } = result;
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
			expect(flat(out)).toContain(
				"old: lost silently: 12 of 12 were acknowledged and never arrived",
			);
			expect(flat(out)).toContain(
				"new: refused: 12 of 12 (mqtt: the server refuses the message: packet too large (reason code 149))",
			);
		},
	);
});
