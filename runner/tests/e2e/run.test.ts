import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { ownSettings } from "../../../infra/machine-settings.ts";
import { filesOf, measured, resultOf, run, scenario, temporaryFolder } from "./mqbench.ts";

describe("a run on nats-server", () => {
	test("ends with 0, leaves every file, its counts add up, and report says the same from its files", async () => {
		const ended = await measured({ warmup: "500ms", duration: "2s" }, {}, { args: ["--json"] });
		const { results: out, result, run: one } = ended;
		const runs = "runs/01-nats-256B-500-s-1";
		// k6 warns of ticks that a busy machine made it drop: later ones make up for them.
		const files = filesOf(out).filter((name) => !name.endsWith("/client-0.log"));
		expect(files).toEqual([
			"baseline.json",
			"command.json",
			"comment.md",
			"environment.json",
			"junit.xml",
			"report.html",
			"report.md",
			"result.csv",
			"result.json",
			`${runs}/broker-metrics.jsonl`,
			`${runs}/broker.log`,
			`${runs}/client-0.hlog`,
			`${runs}/client-0.jsonl`,
			`${runs}/details.json`,
			`${runs}/lag.hgrm`,
			`${runs}/plan.json`,
			`${runs}/queued.hgrm`,
			`${runs}/resources.jsonl`,
			`${runs}/response.hgrm`,
			`${runs}/run.json`,
			`${runs}/script.js`,
			`${runs}/service.hgrm`,
			"scenario.yaml",
		]);
		expect(result.verdict).toBe("pass");
		expect(result.environment?.k6).toMatch(/^v?2\./);
		expect(result.environment?.go).toMatch(/^go1\./);
		expect(result.environment?.settings).toEqual(await ownSettings());
		expect(result.environment?.systems.nats?.broker).toContain("nats-server");
		expect(one).toMatchObject({
			verdict: "pass",
			intended: 1000,
			notOffered: 0,
			sent: 1000,
			acked: null,
			failed: 0,
			received: 1000,
			lost: 0,
			duplicated: 0,
			clientDropped: 0,
			warmup: { intended: 250, received: 250, lost: 0 },
		});
		expect(one.metrics.response?.count).toBe(1000);
		expect(one.metrics.ack).toBeNull();
		expect(result.gates.map((gate) => gate.verdict)).toEqual(["pass", "pass"]);

		expect(ended.out).toBe(readFileSync(path.join(out, "result.json"), "utf8"));
		expect(ended.err).toContain("nats: 256B 500/s");
		expect(ended.err).toMatch(
			/^ {2}1s\/2\.5s measuring, 2s left; scheduled 500\/s, sent \d{3}\/s, received \d{3}\/s; response (p50 \S+, p99 \S+, max \S+|nothing of the window yet)/m,
		);
		expect(ended.err).not.toContain("\r");

		const names = ["result.json", "report.html", "report.md"];
		const read = () => names.map((name) => readFileSync(path.join(out, name), "utf8"));
		const before = read();
		const again = await run(["report", out]);
		expect(again.code).toBe(0);
		expect(again.out).toMatch(/every SLA is met/i);
		expect(read()).toEqual(before);
	});

	test("goes into reports/<run-id> of the current folder, and needs no broker for noop", {
		tags: "long",
	}, async () => {
		const folder = temporaryFolder();
		scenario(folder, { rate: "5000/s" }, { system: "noop" });
		const ended = await run(["scenario.yaml", "-q"], { cwd: folder });
		expect(ended).toMatchObject({ code: 0, out: "", err: "" });
		const reports = path.join(folder, "reports");
		const [id = ""] = readdirSync(reports);
		expect(id).toMatch(/^e2e-\d{8}-\d{6}-[0-9a-f]{4}$/);
		expect(resultOf(path.join(reports, id)).runs[0]).toMatchObject({ received: 5000, lost: 0 });
	});
});
