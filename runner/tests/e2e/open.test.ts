import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { variable } from "../../brokers/index.ts";
import { buildResult } from "../../compare/build.ts";
import { readClient } from "../../evidence/client-read.ts";
import { packageFolder } from "../../package.ts";
import { expand } from "../../plan/expand.ts";
import { filesOfResult } from "../../result/result-files.ts";
import { around, loadScenario } from "../../scenario/load.ts";
import { k6At, only, samplesOf } from "./k6-at.ts";
import {
	listening,
	measured,
	run as mqbench,
	response,
	scenario,
	temporaryFolder,
} from "./mqbench.ts";
import { ownNats } from "./own-nats.ts";

const FROM_ENV = variable("NATS_URL");
const NOBODY = "nats://127.0.0.1:1";
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
/** The words of a scenario for the broker at a URL. */
const on = (url: string, more: object = {}) =>
	JSON.stringify({ system: { broker: "nats", url }, ...LOAD, ...more });
/** A script with one load and nothing else. */
const simple = (given: string, options = "") =>
	`const run = mqbench.open(${given});
export const options = { scenarios: { a: run.scenario }, ${options} };
export default () => run.slot();`;

describe("mqbench.open in a k6 script", () => {
	test("measures a broker while the same test has HTTP load: plan and result are what mqbench itself makes of them, and k6 has the figures", async () => {
		const { url } = await ownNats();
		const asked = await httpServer();
		const { code, out, folder } = await k6(
			`import http from "k6/http";
const run = mqbench.open(${on(FROM_ENV)});
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
		const [again] = expand(
			loadScenario("mqbench.open", written, {}, { NATS_URL: url }, around("mqbench.open", folder)),
			{ runId: path.basename(results) },
		);
		expect(JSON.parse(readFileSync(path.join(planned, "plan.json"), "utf8"))).toEqual(
			JSON.parse(JSON.stringify(again)),
		);
		// So do the files of the run to the same result.
		const result = buildResult(results);
		const files = filesOfResult(result);
		expect([...files.keys()]).toHaveLength(2);
		for (const [file, text] of files)
			expect(readFileSync(path.join(results, file), "utf8")).toBe(text);
		expect(JSON.parse(read("summary.json"))).toEqual(JSON.parse(files.get("result.json") ?? ""));
		const [run] = result.runs;
		if (!run) throw new Error("no run");
		expect(run).toMatchObject({ intended: 2000, received: 2000 });
		expect(out).toContain("Every SLA is met.");

		const metrics = JSON.parse(read("metrics.json"));
		expect(metrics.mqbench_sent.values.count).toBe(3000);
		expect(metrics.mqbench_received.values.count).toBe(3000);
		expect(metrics.mqbench_response_p50.values.value).toBe(response(run, 50) / 1e6);
		expect(metrics.mqbench_response_max.values.value).toBe((run.metrics.response?.max ?? 0) / 1e6);
		const samples = samplesOf(path.join(folder, "samples.json"));
		// Seconds of which every message is back before the sample is taken are the report's to the last digit.
		const told = samples
			.filter(({ metric }) => metric === "mqbench_response_p99")
			.map(({ data }) => data.value);
		const same = run.series.seconds.filter(({ p99 }) => told.includes((p99 ?? 0) / 1e6));
		expect(same.length).toBeGreaterThan(0);
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

	const nats = `system: { broker: "nats", url: "${NOBODY}" }`;
	const work = `workload: ${JSON.stringify(LOAD.workload)}`;
	test.each<[string, string, number | null, RegExp]>([
		["is given nothing", simple(""), null, /give it a scenario/],
		[
			"is given a wrong word",
			simple(`{ ${nats}, workload: { rate: "1", message: "1KiB", duration: "1s" } }`),
			null,
			/mqbench\.open:6:9 rate 1 has no unit; write 1\/s/,
		],
		[
			"is given brokers of its own",
			simple(`{ target: "local", system: "nats", ${work} }`),
			null,
			/a script starts no broker/,
		],
		[
			"is given several runs",
			simple(`{ ${nats}, ${work}, repeat: 2 }`),
			null,
			/these are 2 runs, and each call makes one/,
		],
		[
			"does not reach its broker",
			simple(`{ system: { broker: "nats", url: "nats://me:\${SECRET}@127.0.0.1:1" }, ${work} }`),
			108,
			/^(?![\s\S]*hunter2secret)[\s\S]*open nats: nats: connect:/,
		],
	])(
		"%s: it says so, and the password stays where it was",
		{ tags: "long" },
		async (_, body, exit, words) => {
			const { code, out, folder } = await k6(body, { SECRET: "hunter2secret" });
			if (exit === null) expect(code).not.toBe(0);
			else expect(code).toBe(exit);
			expect(out).toMatch(words);
			const reports = path.join(folder, "reports");
			expect(existsSync(reports) ? readdirSync(reports) : []).toEqual([]);
		},
	);

	test.each([
		[
			"its SLA is breached",
			(url: string) =>
				simple(on(url, { sla: ["p50 < 1ns"] }), 'thresholds: { mqbench_sla: ["rate==1"] }'),
			/nats, 256B 1000\/s: FAIL: p50 < 1ns/,
		],
		[
			"it is never asked for a slot",
			(url: string) =>
				`mqbench.open(${on(url)});
export const options = { thresholds: { mqbench_valid: ["rate==1"] } };
export default () => {};`,
			/no scenario of the script has called its slot\(\)/,
		],
	])(
		"fails k6's test where %s, and says so without any threshold",
		{ tags: "long" },
		async (_, body, words) => {
			const { code, out } = await k6(body((await ownNats()).url));
			expect(code).toBe(99);
			expect(out).toMatch(words);
		},
	);

	test("is called twice with the same words: those are two loads, and neither hears of the other", {
		tags: "long",
	}, async () => {
		const given = on((await ownNats()).url);
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

	test("is inspected and archived without a broker, and runs from the archive", {
		tags: "long",
	}, async () => {
		const { url } = await ownNats();
		const folder = temporaryFolder();
		const body = `${simple(on(FROM_ENV))}\nexport const handleSummary = () => ({ stdout: run.text() });`;
		writeFileSync(path.join(folder, "script.js"), withImport(body));
		const off = { NATS_URL: NOBODY };
		for (const command of ["inspect", "archive"])
			expect((await k6At(folder, [command, "script.js"], off)).code).toBe(0);
		expect(existsSync(path.join(folder, "reports"))).toBe(false);
		const args = ["run", "--no-usage-report", "-e", `NATS_URL=${url}`, "archive.tar"];
		const { code, out } = await k6At(folder, args, off);
		expect(code).toBe(0);
		expect(out).toContain("received 2 000");
	});
});

test("a compiled script needs nothing but the broker's URL: the counts are those of the scenario's own run, whose metrics go to k6's outputs as well", {
	tags: "long",
}, async () => {
	const { url } = await ownNats();
	const folder = temporaryFolder();
	const { out: text } = await mqbench(["compile", scenario(folder), "--inline"]);
	writeFileSync(path.join(folder, "script.js"), text);
	const env = { MQBENCH_URL: url };
	const { code, out } = await k6At(folder, ["run", "--no-usage-report", "script.js"], env);
	expect(code).toBe(0);
	expect(out).toContain("Every SLA is met.");
	const [script] = buildResult(only(path.join(folder, "reports"))).runs;
	const args = ["--url", url, "--k6-out", "json=samples.json"];
	const own = await measured({}, {}, { folder, args });
	const { intended, sent, received, lost, duplicated } = own.run;
	expect(script).toMatchObject({ intended, sent, received, lost, duplicated });
	const samples = samplesOf(own.ofRun("samples.json"));
	const last = (name: string) => samples.findLast(({ metric }) => metric === name)?.data.value;
	expect(last("mqbench_response_p50")).toBe(response(own.run, 50) / 1e6);
	expect([last("mqbench_valid"), last("mqbench_sla")]).toEqual([1, 1]);
});

describe("a k6 script written by hand", () => {
	const text = readFileSync(
		path.join(packageFolder, "extensions/xk6-mqbench/examples/hand-written.js"),
		"utf8",
	);
	const OUT = ["--summary-mode=disabled", "--out=mqbench=client-0"];
	const runs = async (args: readonly string[], folder: string, url: string) =>
		k6At(folder, ["run", "--quiet", "--no-usage-report", ...args], {
			MQBENCH_URL: url,
			MQBENCH_RUNNER: "",
		});

	test("measures like a compiled one, and runs from an archive as well", {
		tags: "long",
	}, async () => {
		const { url } = await ownNats();
		const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()];
		writeFileSync(path.join(folder, "script.js"), text);
		expect((await k6At(folder, ["archive", "script.js"], {})).code).toBe(0);
		for (const [where, what] of [
			[folder, "script.js"],
			[elsewhere, path.join(folder, "archive.tar")],
		] as const) {
			expect((await runs([...OUT, what], where, url)).code).toBe(0);
			expect(
				readClient(where, 0).lines.find((one) => one.type === "counters" && one.scope === "window"),
			).toMatchObject({ intended: 2000, received: 2000 });
		}
	});

	test.each<[string, string, readonly string[], RegExp]>([
		[
			"has a driver for another broker",
			text.replace("mqbench/nats", "mqbench/noop"),
			OUT,
			/the plan is for nats, the driver is noop/,
		],
		["has no driver", text.replace("\tnats,\n", "\t{},\n"), OUT, /the first argument is a driver/],
		[
			"has a plan that contradicts itself",
			text.replace("messages: rate * (warmup", "messages: 1 + rate * (warmup"),
			OUT,
			/schedule has 1000 \+ 2000 messages, the plan says 1000 \+ 2001/,
		],
		[
			"has its load inside of a function",
			text.replace("() => run.slot()", "() => mqbench.load(nats, '{}')"),
			OUT,
			/belongs at the top of the script/,
		],
		["has no --out", text, ["--summary-mode=disabled"], /start k6 with --out mqbench=/],
	])(
		"that %s is told so, and leaves no results",
		{ tags: "long" },
		async (_, script, args, words) => {
			const folder = temporaryFolder();
			writeFileSync(path.join(folder, "script.js"), script);
			const { out } = await runs([...args, "script.js"], folder, (await ownNats()).url);
			expect(out).toMatch(words);
			expect(existsSync(path.join(folder, "client-0.jsonl"))).toBe(false);
		},
	);
});

// --- internal ---

function withImport(body: string): string {
	return `import mqbench from "k6/x/mqbench";\n${body}\n`;
}

/** Runs a script that imports mqbench, in a folder of its own. */
async function k6(
	body: string,
	env: Readonly<Record<string, string>> = {},
	args: readonly string[] = [],
) {
	const folder = temporaryFolder();
	writeFileSync(path.join(folder, "script.js"), withImport(body));
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
	return { url: `http://127.0.0.1:${await listening(server)}/`, count: () => count };
}
