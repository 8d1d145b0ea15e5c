import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { descendants } from "../../../infra/processes.fake.ts";
import { variable } from "../../brokers/index.ts";
import { readBrokerMetrics } from "../../evidence/broker-metrics.ts";
import { collect } from "../../evidence/collect.ts";
import type { Run } from "../../model/result.ts";
import { windowOf } from "../../verdict/facts.ts";
import { expectNowhere, type Made, measured, resultOf, run, started } from "./mqbench.ts";

interface Read {
	readonly beforeMs: number;
	readonly afterMs: number;
	readonly value: number;
}

/** A counter only grows: at any moment it is between what was read before it and after it. */
function bounds(reads: readonly Read[], atMs: number) {
	const least = reads.findLast(({ afterMs }) => afterMs <= atMs)?.value ?? 0;
	const most = reads.find(({ beforeMs }) => beforeMs >= atMs)?.value ?? Number.POSITIVE_INFINITY;
	return { least, most };
}

/** Messages sent or received until a moment, by mqbench's own counts of whole seconds: at least, and at most. */
function counted({ series }: Run, key: "sent" | "received", seconds: number) {
	const until = (second: number) =>
		series.ticks.filter(({ at }) => at <= second).reduce((sum, tick) => sum + tick[key], 0);
	return { least: until(Math.floor(seconds)), most: until(Math.ceil(seconds)) };
}

/** What was read is between what had been received and what had been sent, within a second's edges. `own`: commands of mqbench itself. */
function agrees(made: Made, run: Run, name: string, own: (looks: number) => number): number {
	const folder = path.join(made.results, run.folder);
	const { t0Ms } = collect(folder);
	const read = readBrokerMetrics(path.join(folder, "broker-metrics.jsonl"));
	const number = read?.series.findIndex((one) => one.name === name) ?? -1;
	const samples = read?.samples.get(1) ?? [];
	for (const [i, { unixMs, values }] of samples.entries()) {
		const value = values[number] ?? 0;
		// A look takes up to a second, and its time is the middle.
		const seconds = (unixMs - (t0Ms ?? 0)) / 1000;
		expect(value).toBeGreaterThanOrEqual(counted(run, "received", seconds - 0.5).least);
		expect(value).toBeLessThanOrEqual(counted(run, "sent", seconds + 0.5).most + own(i + 1));
	}
	return samples.length;
}

test("nats-server's own counts agree with what was sent, and its CPU time with /proc", async () => {
	const password = "s3cr3t-of-metrics";
	const logins = new Set<string | undefined>();
	const exporter = createServer((request, response) => {
		logins.add(request.headers.authorization);
		response.end(`# TYPE port gauge\nport ${request.url?.slice(1)}\nlooks_total ${logins.size}\n`);
	}).listen(0, "127.0.0.1");
	onTestFinished(() => void exporter.close());
	await new Promise((resolve) => exporter.once("listening", resolve));
	const { port } = exporter.address() as AddressInfo;
	const url = `http://me:${variable("PROM")}@127.0.0.1:${port}/{port},http://127.0.0.1:1/`;
	const made = started(
		{ rate: "2000/s", warmup: "1s", duration: "3s" },
		{
			system: "",
			systems: `{ own: { broker: nats }, asked: { broker: nats, metrics: { url: "${url}", show: ["po*"] } }  }`,
			sla: "[p50 < 10s, cpu per message < 1s, generator cpu per message < 1s, disk per message < 1MiB]",
		},
		{ env: { PROM: password } },
	);
	const reads = new Map<number, Read[]>();
	const looking = setInterval(() => {
		for (const { pid, name } of descendants(made.mqbench.pid)) {
			if (name !== "nats-server") continue;
			const beforeMs = Date.now();
			let stat = "";
			try {
				stat = readFileSync(`/proc/${pid}/stat`, "utf8");
			} catch {
				continue;
			}
			const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
			const value = (Number(fields[11]) + Number(fields[12])) * 1e7;
			reads.set(pid, [...(reads.get(pid) ?? []), { beforeMs, afterMs: Date.now(), value }]);
		}
	}, 100);
	const ended = await made.mqbench.ended;
	clearInterval(looking);
	expect(ended.code, ended.out + ended.err).toBe(0);
	const [own, asked] = made.result.runs as [Run, Run];

	const { t0Ms, ...rest } = collect(path.join(made.results, own.folder));
	const { startNs, endNs } = windowOf({ ...rest, t0Ms });
	const [startMs, endMs] = [startNs, endNs].map((ns) => (t0Ms ?? 0) + ns / 1e6) as [number, number];
	const cpu = [...reads.values()].find((all) =>
		all.some(({ beforeMs }) => beforeMs > startMs && beforeMs < endMs),
	);
	const [from, to] = [bounds(cpu ?? [], startMs), bounds(cpu ?? [], endMs)];
	const cost = own.cost as NonNullable<Run["cost"]>;
	const { messages, cpuPerMessageNs, cpuWithinNs } = cost;
	expect(messages).toBeGreaterThan(5000);
	const off = (cpuWithinNs ?? 0) * messages;
	expect((cpuPerMessageNs ?? 0) * messages).toBeGreaterThanOrEqual(to.least - from.most - off);
	expect((cpuPerMessageNs ?? 0) * messages).toBeLessThanOrEqual(to.most - from.least + off);
	expect(cost.messagesPerCoreSecond).toBeCloseTo(1e9 / (cpuPerMessageNs ?? 0), -2);
	expect(cost.generatorCpuPerMessageNs).toBeGreaterThan(0);
	expect(cost.diskPerMessageBytes).toBeLessThan(100);

	expect(agrees(made, own, "in_msgs", () => 10)).toBeGreaterThanOrEqual(3);
	const [view] = own.series.brokerMetrics ?? [];
	const rates = view?.series.find(({ name }) => name === "in_msgs");
	expect(rates).toMatchObject({ counter: true, shown: true });
	expect(Math.max(...(rates?.values.map((one) => one ?? 0) ?? []))).toBeGreaterThan(500);
	expect(view?.series.map(({ name }) => name)).toEqual(
		expect.arrayContaining(["mem", "slow_consumers", "out_bytes"]),
	);

	expect(logins).toEqual(new Set([`Basic ${btoa(`me:${password}`)}`]));
	const brokerPort = Number(new URL(asked.brokerUrl ?? "").port);
	const [port0, looks] = asked.series.brokerMetrics?.[0]?.series ?? [];
	expect(port0).toMatchObject({ name: "port", shown: true, counter: false });
	expect(looks).toMatchObject({ name: "looks_total", shown: false, counter: true });
	expect(port0?.values).toContain(brokerPort);
	expectNowhere(password, made.results, ended.out, ended.err);

	expect(asked.series.brokerMetrics).toHaveLength(1);
	expect(asked.verdict).toBe("pass");
	expect(asked.notes.join()).toContain(
		"the broker's metrics could not be read: http://127.0.0.1:1/: ",
	);
	// Everything is in the folder.
	await run(["report", made.results]);
	expect(resultOf(made.results).runs).toEqual([own, asked]);
});

test("Redis counts a command for each message", async () => {
	const made = await measured({ rate: "1000/s", duration: "3s" }, { system: "redis" });
	const [run] = made.result.runs as [Run];
	// Each look is four commands; the client library greets the server.
	expect(agrees(made, run, "total_commands_processed", (looks) => 4 * looks + 100)).toBeGreaterThan(
		2,
	);
	const [view] = run.series.brokerMetrics ?? [];
	const shown = view?.series.filter(({ shown }) => shown).map(({ name }) => name);
	expect(shown).toEqual(expect.arrayContaining(["total_commands_processed", "used_memory"]));
});
