import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { chromium } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { realBinaries } from "../../../../infra/binaries/real.fake.ts";
import type { Run } from "../../../model/result.ts";
import { packageFolder } from "../../../package.ts";
import { k6At, only, RUNNER } from "../../e2e/k6-at.ts";
import {
	filesOf,
	freePort,
	resultOf,
	run,
	scenario,
	temporaryFolder,
	until,
} from "../../e2e/mqbench.ts";
import { ownNats } from "../../e2e/own-nats.ts";

const XK6_MQBENCH = path.join(packageFolder, "extensions/xk6-mqbench");

test("a Prometheus gets the metrics of a run with --k6-out, and each query of the shipped dashboard has its figures", async () => {
	const folder = temporaryFolder();
	const url = await prometheus(path.join(folder, "prometheus"));
	const { url: nats } = await ownNats();
	const out = path.join(folder, "results");
	const file = scenario(folder, { rate: "1000/s", duration: "10s" });
	const began = Date.now() / 1000;
	const { code, err } = await run(
		[file, "--url", nats, "--out", out, "--k6-out", "experimental-prometheus-rw"],
		{
			env: {
				K6_PROMETHEUS_RW_SERVER_URL: `${url}/api/v1/write`,
				K6_PROMETHEUS_RW_PUSH_INTERVAL: "1s",
				K6_PROMETHEUS_RW_USERNAME: "me",
				K6_PROMETHEUS_RW_PASSWORD: "hunter2secret",
			},
		},
	);
	expect({ code, err }).toMatchObject({ code: 0 });
	for (const written of filesOf(out))
		expect(readFileSync(path.join(out, written)).includes("hunter2secret"), written).toBe(false);

	const [only] = resultOf(out).runs as [Run];
	const found: Record<string, number[]> = {};
	for (const { title, expr } of queries())
		for (const { metric, values } of await series(url, expr, began)) {
			expect({ expr, metric }).toMatchObject({ metric: { system: "nats" } });
			const name = [
				title,
				metric.__name__?.replace(/^k6_mqbench_/, "") ?? expr.match(/k6_mqbench_(\w+)/)?.[1],
				...(metric.sla ? [metric.sla] : []),
			].join(": ");
			found[name] = values;
		}
	const response = only.metrics.response;
	const p = (percentile: number) =>
		(response?.percentiles.find((one) => one.p === percentile)?.value ?? Number.NaN) / 1e6;
	const last = Object.fromEntries(
		Object.entries(found).map(([name, values]) => [name, values.at(-1)]),
	);
	expect(last).toMatchObject({
		"Valid: valid_rate": 1,
		"SLA: sla_rate: p50 < 10s": 1,
		"SLA: sla_rate: lost == 0": 1,
		"Lost: lost_total": 0,
		"p50 and p99, by second: response_p50": p(50),
		"p50 and p99, by second: response_p99": p(99),
		"p99.9 and max so far: response_p999": p(99.9),
		"p99.9 and max so far: response_max": (response?.max ?? 0) / 1e6,
		"In flight: in_flight": 0,
		"Failed and duplicated: failed_total": 0,
		"Failed and duplicated: duplicated_total": 0,
	});
	expect(Object.keys(last)).toContain("Lag p99 of the generator: lag_p99");
	for (const way of ["sent_total", "received_total"]) {
		const highest = Math.max(...(found[`Messages a second: ${way}`] ?? []));
		expect(highest).toBeGreaterThan(700);
		expect(highest).toBeLessThan(1300);
		const [count] = await series(url, `k6_mqbench_${way}`, began);
		expect(count?.values.at(-1)).toBe(10_000);
	}
});

test("the example of a service and its broker shows both in k6's web dashboard", async () => {
	const folder = temporaryFolder();
	const { k6 } = await realBinaries();
	const { url: nats } = await ownNats();
	const port = await freePort();
	const service = createServer((_, answer) => answer.end("ok"));
	await new Promise<void>((up) => service.listen(0, "127.0.0.1", up));
	onTestFinished(() => void service.close());
	const { port: servicePort } = service.address() as { port: number };
	// Before k6, whose dashboard is there for five seconds only.
	const browser = await chromium.launch({
		executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
		args: ["--no-sandbox"],
	});
	onTestFinished(() => browser.close());
	const page = await browser.newPage();
	const child = spawn(
		k6,
		[
			"run",
			"--no-usage-report",
			`--out=web-dashboard=host=127.0.0.1&port=${port}&period=1s`,
			path.join(XK6_MQBENCH, "examples/service-and-broker.js"),
		],
		{
			cwd: folder,
			env: {
				PATH: process.env.PATH,
				HOME: folder,
				...RUNNER,
				NATS_URL: nats,
				SERVICE_URL: `http://127.0.0.1:${servicePort}/`,
			},
		},
	);
	const said = sayings(child);
	const ended = new Promise<number | null>((end) => child.once("close", end));
	const dashboard = `http://127.0.0.1:${port}/`;
	await expect
		.poll(
			() =>
				page.goto(dashboard).then(
					() => true,
					() => false,
				),
			{ timeout: 20_000 },
		)
		.toBe(true);
	await page.getByText("HTTP Request Rate").first().waitFor();
	// What the page listens to.
	const heard = await page.evaluate<string>(`new Promise((resolve) => {
		let heard = "";
		const events = new EventSource("/events");
		const done = () => (events.close(), resolve(heard));
		for (const kind of ["metric", "snapshot", "cumulative", "config", "param"])
			events.addEventListener(kind, ({ data }) => {
				heard += data;
				if (heard.includes("mqbench_response_p99")) done();
			});
		setTimeout(done, 15000);
	})`);
	expect(heard).toContain("mqbench_response_p99");
	await browser.close();
	expect({ code: await ended, said: said() }).toMatchObject({ code: 0 });
	expect(said()).toContain("Every SLA is met.");
});

test("a run and its compiled script, five times each in turn, are alike", async () => {
	const folder = temporaryFolder();
	const { url } = await ownNats();
	const file = scenario(folder, { rate: "3000/s", warmup: "1s", duration: "4s" });
	const { out: text } = await run(["compile", file, "--inline"]);
	const took = { run: [] as number[], script: [] as number[] };
	for (let i = 0; i < 5; i++) {
		const own = path.join(folder, `run-${i}`);
		expect((await run([file, "--url", url, "--out", own])).code).toBe(0);
		const at = path.join(folder, `script-${i}`);
		mkdirSync(at);
		writeFileSync(path.join(at, "script.js"), text);
		const { code } = await k6At(at, ["run", "--no-usage-report", "script.js"], {
			MQBENCH_URL: url,
		});
		expect(code).toBe(0);
		for (const [which, results] of [
			["run", own],
			["script", only(path.join(at, "reports"))],
		] as const) {
			const [one] = resultOf(results).runs;
			expect(one).toMatchObject({ intended: 12_000, received: 12_000 });
			took[which].push(
				one?.metrics.response?.percentiles.find(({ p }) => p === 50)?.value ?? Number.NaN,
			);
		}
	}
	process.stdout.write(`p50, ns: ${JSON.stringify(took)}\n`);
	expect(Math.min(...took.run)).toBeLessThan(Math.max(...took.script));
	expect(Math.min(...took.script)).toBeLessThan(Math.max(...took.run));
});

// --- internal ---

/** What the dashboard asks Prometheus for, all of it shown. */
function queries(): { title: string; expr: string }[] {
	const { panels } = JSON.parse(readFileSync(path.join(XK6_MQBENCH, "grafana.json"), "utf8")) as {
		panels: { title: string; targets: { expr: string }[] }[];
	};
	return panels.flatMap(({ title, targets }) =>
		targets.map(({ expr }) => ({
			title,
			expr: expr.replaceAll("$__rate_interval", "5s").replaceAll(/\$(testid|system|case)\b/g, ".*"),
		})),
	);
}

async function series(
	prometheus: string,
	query: string,
	start: number,
): Promise<{ metric: Record<string, string>; values: number[] }[]> {
	const asked = new URLSearchParams({
		query,
		start: `${start}`,
		end: `${Date.now() / 1000 + 2}`,
		step: "1s",
	});
	const answer = (await (await fetch(`${prometheus}/api/v1/query_range?${asked}`)).json()) as {
		data: { result: { metric: Record<string, string>; values: [number, string][] }[] };
	};
	expect(answer, query).toMatchObject({ status: "success" });
	expect(answer.data.result, query).not.toEqual([]);
	return answer.data.result.map(({ metric, values }) => ({
		metric,
		values: values.map(([, value]) => Number(value)),
	}));
}

/** Debian's, in a folder; gone when the test is over. Returns its URL. */
async function prometheus(folder: string): Promise<string> {
	mkdirSync(folder);
	const config = path.join(folder, "prometheus.yml");
	writeFileSync(config, "global: {}\n");
	const port = await freePort();
	const child = spawn("prometheus", [
		`--config.file=${config}`,
		`--storage.tsdb.path=${path.join(folder, "data")}`,
		`--web.listen-address=127.0.0.1:${port}`,
		"--web.enable-remote-write-receiver",
	]);
	onTestFinished(() => void child.kill("SIGKILL"));
	const said = sayings(child);
	await until(() => said().includes("Server is ready to receive web requests"), "Prometheus");
	return `http://127.0.0.1:${port}`;
}

function sayings(child: ChildProcess): () => string {
	let said = "";
	for (const stream of [child.stdout, child.stderr])
		stream?.on("data", (piece) => {
			said += piece;
		});
	return () => said;
}
