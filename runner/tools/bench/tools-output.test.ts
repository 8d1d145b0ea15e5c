import { expect, test } from "vitest";
import {
	clockedRate,
	cpuSeconds,
	kafkaRate,
	median,
	natsLoopRate,
	nsqRate,
	nsqSent,
	perfTestRate,
	redisRate,
	stanRate,
} from "./tools-output.ts";

test("of producer-perf-test's lines the last one counts, which is of all records", () => {
	expect(
		kafkaRate(`250000 records sent, 49990.0 records/sec (48.82 MB/sec), 80.1 ms avg latency, 210.0 ms max latency.
500000 records sent, 61234.5 records/sec (59.80 MB/sec), 75.20 ms avg latency, 210.00 ms max latency, 71 ms 50th, 120 ms 95th, 180 ms 99th, 205 ms 99.9th.
`),
	).toBe(61234.5);
});

test("redis-benchmark's command may hold commas and quotes, its rate is the second field", () => {
	expect(
		redisRate(`"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"
"XADD s * p a,"b","252525.25","0.321","0.120","0.303","0.503","0.751","1.023"
`),
	).toBe(252525.25);
});

test("PerfTest's average comes after the rates of each second", () => {
	expect(
		perfTestRate(`id: test-1, time 1.000 s, sent: 20981 msg/s, confirmed: 20881 msg/s, confirm latency min/median 1/2 ms
test stopped (Producer reached message limit)
id: test-1, sending rate avg: 33017 msg/s
id: test-1, receiving rate avg: 0 msg/s
`),
	).toBe(33017);
});

const NSQ =
	"[bench_writer] 2026/11/25 04:49:03 duration: 500.851853ms - 14.598mb/s - 14948.532ops/s - 66.896us/op\n";

test("NSQ's programs print a rate, and a time from which their messages follow", () => {
	expect(nsqRate(NSQ)).toBe(14_948.532);
	expect(nsqSent(NSQ)).toBe(7487);
	expect(nsqSent(NSQ.replace("500.851853ms", "1m2.5s"))).toBe(934_283);
});

test("NSQ's programs without a line of their result are an error", () => {
	expect(() => nsqSent("panic: EOF")).toThrow("panic: EOF");
});

test("stan-bench has commas in its rate", () => {
	expect(
		stanRate(`Starting benchmark [msgs=5000, msgsize=1024, pubs=1, subs=0]
Pub stats: 1,035,645 msgs/sec ~ 34.81 MB/sec
`),
	).toBe(1_035_645);
	expect(() => stanRate("Publisher tool-1 can't connect")).toThrow("can't connect");
});

test("a tool without a rate has one between two readings of the clock", () => {
	expect(
		clockedRate(
			`mqbench:seconds=1795580918.250000000
Connection brokerURL = amqp://127.0.0.1:25672
mqbench:seconds=1795580920.250000000
`,
			40_000,
		),
	).toBe(20_000);
	expect(() => clockedRate("mqbench:seconds=1795580918.250000000\n", 1)).toThrow(
		"the shell printed no time",
	);
});

test("the loop's rate is its messages over its seconds", () => {
	expect(natsLoopRate('{"messages":300000,"seconds":1.5}\n')).toBe(200_000);
});

test("a tool that printed no rate is an error that shows what it said", () => {
	expect(() => kafkaRate("Exception in thread main")).toThrow(
		"the tool has printed no rate:\nException in thread main",
	);
});

test("of a shell's times the second line is of its children, user and system", () => {
	expect(cpuSeconds("0m0.00s 0m0.01s\n1m2.50s 0m3.25s\n")).toBe(65.75);
});

test("a median is the middle one, or the mean of both", () => {
	expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5]);
});
