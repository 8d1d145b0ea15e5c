import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { packageFolder } from "../../../package.ts";
import { k6At, samplesOf } from "../../e2e/k6-at.ts";
import {
	expectNowhere,
	freePort,
	listening,
	measured,
	response,
	temporaryFolder,
	until,
} from "../../e2e/mqbench.ts";
import { ownNats } from "../../e2e/own-nats.ts";

const XK6_MQBENCH = path.join(packageFolder, "extensions/xk6-mqbench");

test("a Prometheus gets the metrics of a run with --k6-out, and each query of the shipped dashboard has its figures", async () => {
	const url = await prometheus(path.join(temporaryFolder(), "prometheus"));
	const { url: nats } = await ownNats();
	const began = Date.now() / 1000;
	const { results, run: only } = await measured(
		{ rate: "1000/s", duration: "10s" },
		{},
		{
			args: ["--url", nats, "--k6-out", "experimental-prometheus-rw"],
			env: {
				K6_PROMETHEUS_RW_SERVER_URL: `${url}/api/v1/write`,
				K6_PROMETHEUS_RW_PUSH_INTERVAL: "1s",
				K6_PROMETHEUS_RW_USERNAME: "me",
				K6_PROMETHEUS_RW_PASSWORD: "hunter2secret",
			},
		},
	);
	expectNowhere("hunter2secret", results);
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
	const p = (percentile: number) => response(only, percentile) / 1e6;
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
		"p99.9 and max so far: response_max": (only.metrics.response?.max ?? 0) / 1e6,
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

test("the example of a service and its broker gives k6's outputs the figures of both", async () => {
	const folder = temporaryFolder();
	const { url: nats } = await ownNats();
	const service = createServer((_, answer) => answer.end("ok"));
	const port = await listening(service);
	const example = path.join(XK6_MQBENCH, "examples/service-and-broker.js");
	const args = ["run", "--no-usage-report", "--out=json=samples.json", example];
	const env = { NATS_URL: nats, SERVICE_URL: `http://127.0.0.1:${port}/` };
	const { code, out } = await k6At(folder, args, env);
	expect(code, out).toBe(0);
	expect(out).toContain("Every SLA is met.");
	const metrics = samplesOf(path.join(folder, "samples.json")).map(({ metric }) => metric);
	for (const metric of ["http_req_duration", "mqbench_response_p99"])
		expect(metrics).toContain(metric);
});

// --- internal ---

/** The dashboard's queries to Prometheus, with everything shown. */
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
	let said = "";
	child.stderr.on("data", (piece) => {
		said += piece;
	});
	await until(() => said.includes("Server is ready to receive web requests"), "Prometheus");
	return `http://127.0.0.1:${port}`;
}
