/** Parses the output of brokers' own tools; pure, so tests need no tools. */

/** kafka-producer-perf-test: "300000 records sent, 123456.7 records/sec (120.56 MB/sec), ..."; the last such line is the total. */
export function kafkaRate(stdout: string): number {
	return last(stdout, /^\d+ records sent, ([\d.]+) records\/sec/gm);
}

/** redis-benchmark --csv: a line of headings, then one with the rate in its second field. The first may be any text. */
export function redisRate(stdout: string): number {
	return last(stdout, /^".*?","([\d.]+)"(?:,"[\d.]+")*\s*$/gm);
}

/** PerfTest: "id: test-1, sending rate avg: 33017 msg/s", after the rates of each second. */
export function perfTestRate(stdout: string): number {
	return last(stdout, /sending rate avg: ([\d.]+) msg\/s/g);
}

/** nats-loop: {"messages":300000,"seconds":1.5}. */
export function natsLoopRate(stdout: string): number {
	const { messages, seconds } = JSON.parse(stdout);
	return messages / seconds;
}

/** bench_writer of NSQ: "[bench_writer] 2026/11/25 04:49:03 duration: 500.851853ms - 14.598mb/s - 14948.532ops/s - 66.896us/op". */
export function nsqRate(stdout: string): number {
	return last(stdout, /([\d.]+)ops\/s/g);
}

/** Messages that they have counted. */
export function nsqSent(stdout: string): number {
	const [, time = ""] = /duration: (\S+) - /.exec(stdout) ?? [];
	return Math.round(goSeconds(time) * nsqRate(stdout));
}

/** stan-bench: "Pub stats: 35,645 msgs/sec ~ 34.81 MB/sec". */
export function stanRate(stdout: string): number {
	return last(stdout, /stats: ([\d,]+) msgs\/sec/g);
}

/** For a tool that prints no rate: a shell's clock before and after it, "mqbench:seconds=1732500000.123456789" each. */
export function clockedRate(stdout: string, messages: number): number {
	const [start, end] = [...stdout.matchAll(/^mqbench:seconds=(\d+\.\d+)$/gm)].map(([, seconds]) =>
		Number(seconds),
	);
	if (start === undefined || end === undefined || end <= start)
		throw new Error(`the shell printed no time:\n${stdout.slice(-2000)}`);
	return messages / (end - start);
}

/** CPU seconds of a shell's children, user and system, from its `times`: the last line, "1m2.50s 0m3.25s". */
export function cpuSeconds(times: string): number {
	const found = /(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$/.exec(times);
	if (!found) throw new Error(`the shell's times are unreadable: ${times}`);
	const [user = 0, userSeconds = 0, system = 0, systemSeconds = 0] = found.slice(1).map(Number);
	return 60 * (user + system) + userSeconds + systemSeconds;
}

/** The middle one, or the mean of both for an even number. */
export function median(values: readonly number[]): number {
	const sorted = values.toSorted((a, b) => a - b);
	const middle = sorted.length >> 1;
	return sorted.length % 2 === 1
		? (sorted[middle] as number)
		: ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

// --- internal ---

function last(stdout: string, pattern: RegExp): number {
	const rate = Number([...stdout.matchAll(pattern)].at(-1)?.[1]?.replaceAll(",", ""));
	if (!(rate > 0)) throw new Error(`the tool has printed no rate:\n${stdout.slice(-2000)}`);
	return rate;
}

/** Go's way to write a duration, as far as tools print one: "2.0123s", "1m2.5s", "850ms". */
function goSeconds(text: string): number {
	const units: Record<string, number> = { h: 3600, m: 60, s: 1, ms: 1e-3 };
	const parts = [...text.matchAll(/([\d.]+)(h|ms|m|s)/g)];
	return parts.reduce((sum, [, number, unit = ""]) => sum + Number(number) * (units[unit] ?? 0), 0);
}
