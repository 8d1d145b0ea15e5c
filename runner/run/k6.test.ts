import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { localClients } from "../../infra/clients/local.ts";
import { realBinaries } from "../../infra/programs/real.fake.ts";
import { untouchedBroker } from "../../infra/rig.ts";
import { script, testFolder } from "../../infra/test-folder.fake.ts";
import type { Plan } from "../model/plan.ts";
import { planOf } from "../plan/plans.fake.ts";
import { fakeWorld } from "../world.fake.ts";
import { Fleet } from "./fleet.ts";
import { k6Arguments, outputNotes } from "./k6.ts";

const { agent } = await realBinaries();
const plan = planOf("rate: 10/s, duration: 1s");

/** Runs a shell script as k6 on this machine. */
function k6(
	body: string,
	parts: { plan?: Partial<Plan>; env?: Record<string, string>; outs?: string[] } = {},
) {
	const folder = testFolder();
	const world = fakeWorld({
		env: { PATH: "/usr/bin:/bin", K6_VUS: "50", HOME: "/home/me", ...parts.env },
	});
	for (const name of ["plan.json", "script.js"]) writeFileSync(path.join(folder, name), "");
	const [client] = localClients(1, world, { agent, k6: script(path.join(folder, "k6"), body) });
	if (!client) throw new Error("no client");
	const result = new Fleet(
		{
			clients: [{ client, facts: FACTS }],
			agent,
			folder,
			plan: { ...plan, ...parts.plan },
			k6Outs: parts.outs ?? [],
			broker: { ...untouchedBroker(), url: "nats://me:s3cr3t@127.0.0.1:4222" },
			onProgress: () => null,
		},
		world,
	).run();
	const read = (name: string) => readFileSync(path.join(folder, name), "utf8");
	return { folder, result, read, log: () => read("client-0.log") };
}

const FACTS = { machine: "linux amd64, 6.1, 2 cores", cores: 2, kernel: "6.1" };

describe("k6", () => {
	test("gets the script and nothing that could change or report the run", () => {
		expect(k6Arguments(plan, 0)).toEqual([
			"run",
			"--quiet",
			"--no-color",
			"--summary-mode=disabled",
			"--no-thresholds",
			"--no-usage-report",
			"script.js",
		]);
	});

	test("an output gets the variables that k6 has for outputs, and what is secret in them never reaches the log", async () => {
		const env = {
			K6_PROMETHEUS_RW_SERVER_URL: "http://prom:9090/api/v1/write",
			K6_PROMETHEUS_RW_PASSWORD: "hunter2secret",
			K6_OTEL_HEADERS: "x-key=h3ad3r",
			OTEL_EXPORTER_OTLP_ENDPOINT: "http://otel:4318",
			K6_DURATION: "1h",
			OTHER: "x",
		};
		const body =
			'env > env.txt; echo "$@" > argv.txt; echo "level=error msg=\\"no $K6_PROMETHEUS_RW_PASSWORD, no $K6_OTEL_HEADERS\\", none of u:hunter2" >&2';
		const outs = ["opentelemetry", "influxdb=http://u:hunter2@h:1"];
		const { result, read, log } = k6(body, { env, outs });
		await result;
		expect(read("argv.txt").trim()).toBe(k6Arguments(plan, 0).join(" "));
		const given = read("env.txt").split("\n");
		expect(given).toContain("K6_OUT=mqbench=client-0,opentelemetry,influxdb=http://u:hunter2@h:1");
		const passed = Object.keys(env).filter((name) =>
			given.includes(`${name}=${env[name as "OTHER"]}`),
		);
		expect(passed).toEqual(Object.keys(env).slice(0, 4));
		expect(log()).toMatch(/level=error msg="no \S+, no \S+"/);
		expect(log()).not.toMatch(/hunter2|h3ad3r/);
		// Without an output k6 gets none of them.
		const none = k6("env > env.txt", { env });
		await none.result;
		expect(none.read("env.txt")).not.toMatch(/PROMETHEUS|OTEL/);
	});

	test("has the run's folder as home and current folder, URL and secrets of its driver, and nothing else of the user", async () => {
		const { folder, result, read } = k6('env > env.txt; pwd > pwd.txt; echo "$@" > argv.txt', {
			env: { NATS_TOKEN: "t0k3n", SOME_TOKEN: "0ther" },
		});
		expect(await result).toMatchObject({ ended: { code: 0, signal: null }, error: null });
		expect(read("pwd.txt").trim()).toBe(folder);
		expect(read("argv.txt").trim()).toBe(k6Arguments(plan, 0).join(" "));
		const env = read("env.txt").split("\n");
		expect(env).toContain(`HOME=${folder}`);
		expect(env).toContain(`${plan.urlEnv}=nats://me:s3cr3t@127.0.0.1:4222`);
		expect(env).toContain("NATS_TOKEN=t0k3n");
		expect(env.join()).not.toContain("0ther");
		expect(env.filter((line) => /^(K6_|MQBENCH_(?!URL))/.test(line)).sort()).toEqual([
			"K6_AUTO_EXTENSION_RESOLUTION=false",
			"K6_OUT=mqbench=client-0",
			"MQBENCH_CONTROL=1",
		]);
	});

	test.each([
		["plain", false],
		["aws-msk-iam", true],
	])("has Amazon's keys for Kafka with sasl: %s: %s", async (sasl, has) => {
		const { result, read } = k6("env > env.txt", {
			plan: { broker: "kafka", driverOptions: { sasl } },
			env: { AWS_SECRET_ACCESS_KEY: "s3cr3tk3y" },
		});
		await result;
		expect(read("env.txt").includes("s3cr3tk3y")).toBe(has);
	});

	test.runIf(existsSync("/proc/self/status"))("runs on the CPUs of the plan", async () => {
		const pin = { generator: "0", brokers: null };
		const { result, read } = k6("grep Cpus_allowed_list /proc/self/status > cpus.txt", {
			plan: { pin },
		});
		await result;
		expect(read("cpus.txt")).toMatch(/:\s*0\n/);
	});

	test("that fails is quoted by its last error, without the password", async () => {
		const { result, log } = k6(`
			echo 'time="x" level=info msg="nothing"' >&2
			echo 'time="x" level=error msg="open nats: \\"nats://me:s3cr3t@h\\" refused"' >&2
			echo 'time="x" level=info msg="bye"' >&2
			exit 107`);
		expect((await result).error).toBe(
			'k6 ended with exit code 107: open nats: "nats://***@h" refused',
		);
		expect(log()).toContain("nats://***@h");
		expect(log()).not.toContain("s3cr3t");
	});

	test("that panics is quoted by that", async () => {
		const { result } = k6(
			`echo 'panic: oh' >&2; echo >&2; echo 'goroutine 24 [running]:' >&2; exit 2`,
		);
		expect((await result).error).toBe("k6 ended with exit code 2: panic: oh");
	});
});

function logs(...texts: string[]): string {
	const folder = testFolder();
	for (const [i, text] of texts.entries())
		writeFileSync(path.join(folder, `client-${i}.log`), text);
	return folder;
}

const SENDING =
	'time="2026-11-26T15:00:00Z" level=error msg="Failed to send the time series data to the endpoint" error="HTTP POST request failed: Post \\"http://127.0.0.1:9/api/v1/write\\": connect: connection refused" output="Prometheus remote write"\n';

test("an output that cannot be reached is a note with the first of its complaints", () => {
	expect(
		outputNotes(logs(SENDING.repeat(2), SENDING), 2, [
			"experimental-prometheus-rw",
			"json=samples.json",
		]),
	).toEqual([
		'outputs of k6 (experimental-prometheus-rw, json) complained 3 times, and may lack samples; the figures here are whole: Failed to send the time series data to the endpoint: HTTP POST request failed: Post "http://127.0.0.1:9/api/v1/write": connect: connection refused',
	]);
});

test("nothing is said of outputs that work, nor without any", () => {
	const quiet = 'level=info msg="started"\n';
	expect(outputNotes(logs(quiet), 1, ["json"])).toEqual([]);
	expect(outputNotes(logs(SENDING), 1, [])).toEqual([]);
	expect(outputNotes(logs(), 3, ["json"])).toEqual([]);
});
