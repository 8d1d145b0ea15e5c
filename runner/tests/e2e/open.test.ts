import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { variable } from "../../brokers/index.ts";
import { buildResult } from "../../compare/build.ts";
import type { Result } from "../../model/result.ts";
import { expand } from "../../plan/expand.ts";
import { filesOfResult } from "../../result/result-files.ts";
import { around, loadScenario } from "../../scenario/load.ts";
import { k6At, only, samplesOf } from "./k6-at.ts";
import { run as mqbench, scenario, temporaryFolder } from "./mqbench.ts";
import { ownNats } from "./own-nats.ts";

const FROM_ENV = variable("NATS_URL");
const LOAD = {
	workload: {
		pattern: "round-trip",
		rate: "1000/s",
		message: "256B",
		warmup: "1s",
		duration: "2s",
	},
	sla: ["p50 < 10s", "lost == 0"],
};

describe("mqbench.open in a k6 script", () => {
	test("measures a broker while the same test has HTTP load: plan and result are what mqbench itself makes of them, and k6 has the figures", async () => {
		const { url } = await ownNats();
		const asked = await httpServer();
		const { code, out, folder } = await k6(
			`import http from "k6/http";
const run = mqbench.open(${JSON.stringify({ system: { broker: "nats", url: FROM_ENV }, ...LOAD })});
export const options = {
	scenarios: {
		broker: { ...run.scenario, exec: "broker" },
		service: { executor: "constant-arrival-rate", rate: 20, duration: "2s", preAllocatedVUs: 2, exec: "service" },
	},
	thresholds: { mqbench_valid: ["rate==1"], mqbench_sla: ["rate==1"], mqbench_lost: ["count==0"], http_req_failed: ["rate==0"] },
};
export const broker = () => run.slot();
export const service = () => http.get("${asked.url}");
export const handleSummary = (data) => ({
	stdout: run.text(),
	"summary.json": JSON.stringify(run.summary()),
	"metrics.json": JSON.stringify(data.metrics),
});`,
			{ NATS_URL: url },
			["--out=json=samples.json"],
		);
		expect(code).toBe(0);
		expect(asked.count()).toBeGreaterThan(30);

		const results = only(path.join(folder, "reports"));
		const planned = only(path.join(results, "runs"));
		const read = (file: string) => readFileSync(path.join(folder, file), "utf8");
		const written = readFileSync(path.join(results, "scenario.yaml"), "utf8");
		expect(written).toContain(`url: ${FROM_ENV}`);
		// The same text comes to the same plan, outside of k6.
		const again = expand(
			loadScenario("mqbench.open", written, {}, { NATS_URL: url }, around("mqbench.open", folder)),
			{ runId: path.basename(results) },
		);
		expect(JSON.parse(readFileSync(path.join(planned, "plan.json"), "utf8"))).toEqual(
			JSON.parse(JSON.stringify(again[0])),
		);
		// So do the files of the run to the same result.
		const result = buildResult(results);
		const files = filesOfResult(result);
		expect([...files.keys()]).toHaveLength(2);
		for (const [file, text] of files)
			expect(readFileSync(path.join(results, file), "utf8")).toBe(text);
		expect(JSON.parse(read("summary.json"))).toEqual(JSON.parse(files.get("result.json") ?? ""));
		expect(result.runs[0]).toMatchObject({ intended: 2000, received: 2000 });
		expect(out).toContain("Every SLA is met.");

		const metrics = JSON.parse(read("metrics.json"));
		expect(metrics.mqbench_sent.values.count).toBe(3000);
		expect(metrics.mqbench_received.values.count).toBe(3000);
		expect(metrics.mqbench_response_p50.values.value).toBe(p(result, 50) / 1e6);
		expect(metrics.mqbench_response_max.values.value).toBe(
			(result.runs[0]?.metrics.response?.max ?? 0) / 1e6,
		);
		const samples = samplesOf(path.join(folder, "samples.json"));
		// Seconds of which every message is back before the sample is taken are the report's to the last digit.
		const told = samples
			.filter(({ metric }) => metric === "mqbench_response_p99")
			.map(({ data }) => data.value);
		const seconds = result.runs[0]?.series?.seconds ?? [];
		expect(seconds.filter(({ p99 }) => told.includes((p99 ?? 0) / 1e6)).length).toBeGreaterThan(0);
		const sent = samples.filter(({ metric }) => metric === "mqbench_sent");
		// One a second, and never one a message.
		expect(sent.length).toBeGreaterThan(2);
		expect(sent.length).toBeLessThan(20);
		expect(sent.at(-1)?.data.tags).toMatchObject({
			system: "nats",
			case: "256B 1000/s",
			pattern: "round-trip",
			scenario: "broker",
		});
	});

	test("fails k6's test where its SLA is breached, and says so without any threshold", {
		tags: "long",
	}, async () => {
		const { url } = await ownNats();
		const breached = { ...LOAD, sla: ["p50 < 1ns"] };
		const body = (thresholds: string) =>
			`const run = mqbench.open(${JSON.stringify({ system: { broker: "nats", url }, ...breached })});
export const options = { scenarios: { a: run.scenario }, thresholds: ${thresholds} };
export default () => run.slot();`;
		const { code, out } = await k6(body('{ mqbench_sla: ["rate==1"] }'));
		expect(code).toBe(99);
		expect(out).toMatch(/nats, 256B 1000\/s: FAIL: p50 < 1ns/);
	});

	const nats = `system: { broker: "nats", url: "nats://127.0.0.1:1" }`;
	const work = `workload: ${JSON.stringify(LOAD.workload)}`;
	test.each([
		["nothing", "()", /give it a scenario/],
		[
			"a wrong word",
			`({ ${nats}, workload: { rate: "1", message: "1KiB", duration: "1s" } })`,
			/mqbench\.open:6:9 rate 1 has no unit; write 1\/s/,
		],
		[
			"brokers of its own",
			`({ target: "local", system: "nats", ${work} })`,
			/a script starts no broker/,
		],
		[
			"several runs",
			`({ ${nats}, ${work}, repeat: 2 })`,
			/these are 2 runs, and each call makes one/,
		],
	])("is given %s, and says so", { tags: "long" }, async (_, given, words) => {
		const { code, out, folder } = await k6(
			`const run = mqbench.open${given};\nexport default () => run.slot();`,
		);
		expect(code).not.toBe(0);
		expect(out).toMatch(words);
		expect(existsSync(path.join(folder, "reports"))).toBe(false);
	});

	test("does not reach its broker: the test is over, and the password stays where it was", {
		tags: "long",
	}, async () => {
		const { code, out, folder } = await k6(
			`const run = mqbench.open({ system: { broker: "nats", url: "nats://me:\${SECRET}@127.0.0.1:1" }, ${work} });
export const options = { scenarios: { a: run.scenario } };
export default () => run.slot();`,
			{ SECRET: "hunter2secret" },
		);
		expect(code).toBe(108);
		expect(out).toMatch(/open nats: nats: connect:/);
		expect(out).not.toContain("hunter2secret");
		expect(readdirSync(path.join(folder, "reports"))).toEqual([]);
	});

	test("is called twice with the same words: those are two loads, and neither hears of the other", {
		tags: "long",
	}, async () => {
		const { url } = await ownNats();
		const given = JSON.stringify({ system: { broker: "nats", url }, ...LOAD });
		const { code, folder } = await k6(
			`const one = mqbench.open(${given}), other = mqbench.open(${given});
export const options = { scenarios: { one: { ...one.scenario, exec: "first" }, other: { ...other.scenario, exec: "second" } } };
export const first = () => one.slot();
export const second = () => other.slot();`,
		);
		expect(code).toBe(0);
		const results = readdirSync(path.join(folder, "reports"));
		expect(results).toHaveLength(2);
		for (const name of results)
			expect(buildResult(path.join(folder, "reports", name)).runs[0]).toMatchObject({
				intended: 2000,
				received: 2000,
				foreign: 0,
			});
	});

	test("is never asked for a slot: that is no valid run", { tags: "long" }, async () => {
		const { url } = await ownNats();
		const { code, out } = await k6(
			`mqbench.open(${JSON.stringify({ system: { broker: "nats", url }, ...LOAD })});
export const options = { thresholds: { mqbench_valid: ["rate==1"] } };
export default () => {};`,
		);
		expect(code).toBe(99);
		expect(out).toContain("no scenario of the script has called its slot()");
	});

	test("is inspected and archived without a broker, and runs from the archive", {
		tags: "long",
	}, async () => {
		const { url } = await ownNats();
		const body = `const run = mqbench.open(${JSON.stringify({ system: { broker: "nats", url: FROM_ENV }, ...LOAD })});
export const options = { scenarios: { a: run.scenario } };
export default () => run.slot();
export const handleSummary = () => ({ stdout: run.text() });`;
		const folder = temporaryFolder();
		writeFileSync(path.join(folder, "script.js"), script(body));
		const off = { NATS_URL: "nats://127.0.0.1:1" };
		for (const command of ["inspect", "archive"])
			expect((await k6At(folder, [command, "script.js"], off)).code).toBe(0);
		expect(existsSync(path.join(folder, "reports"))).toBe(false);
		const { code, out } = await k6At(
			folder,
			["run", "--no-usage-report", "-e", `NATS_URL=${url}`, "archive.tar"],
			off,
		);
		expect(code).toBe(0);
		expect(out).toContain("received 2 000");
	});
});

test("a compiled script needs nothing but the broker's URL: the counts are those of the scenario's own run, whose metrics go to k6's outputs as well", {
	tags: "long",
}, async () => {
	const { url } = await ownNats();
	const folder = temporaryFolder();
	const file = scenario(folder);
	const { out: text } = await mqbench(["compile", file, "--inline"]);
	writeFileSync(path.join(folder, "script.js"), text);
	const { code, out } = await k6At(folder, ["run", "--no-usage-report", "script.js"], {
		MQBENCH_URL: url,
	});
	expect(code).toBe(0);
	expect(out).toContain("Every SLA is met.");
	const results = path.join(folder, "own");
	const own = await mqbench([
		file,
		"--url",
		url,
		"--json",
		"--out",
		results,
		"--k6-out",
		"json=samples.json",
	]);
	const counts = ({ runs: [one] }: Result) => [
		one?.intended,
		one?.sent,
		one?.received,
		one?.lost,
		one?.duplicated,
	];
	expect(counts(buildResult(only(path.join(folder, "reports"))))).toEqual(
		counts(JSON.parse(own.out)),
	);
	const samples = samplesOf(path.join(only(`${results}/runs`), "samples.json"));
	const last = (name: string) => samples.findLast(({ metric }) => metric === name)?.data.value;
	expect(last("mqbench_response_p50")).toBe(p(JSON.parse(own.out), 50) / 1e6);
	expect([last("mqbench_valid"), last("mqbench_sla")]).toEqual([1, 1]);
});

// --- internal ---

function script(body: string): string {
	return `import mqbench from "k6/x/mqbench";\n${body}\n`;
}

/** Runs a script that imports mqbench, in a folder of its own. */
async function k6(
	body: string,
	env: Readonly<Record<string, string>> = {},
	args: readonly string[] = [],
) {
	const folder = temporaryFolder();
	writeFileSync(path.join(folder, "script.js"), script(body));
	return {
		folder,
		...(await k6At(folder, ["run", "--no-usage-report", ...args, "script.js"], env)),
	};
}

async function httpServer() {
	let count = 0;
	const server = createServer((_, answer) => {
		count++;
		answer.end("ok");
	});
	await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
	onTestFinished(() => void server.close());
	const { port } = server.address() as { port: number };
	return { url: `http://127.0.0.1:${port}/`, count: () => count };
}

function p(result: Result, percentile: number): number {
	return (
		result.runs[0]?.metrics.response?.percentiles.find((one) => one.p === percentile)?.value ?? -1
	);
}
