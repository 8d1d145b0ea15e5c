import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import type { Metrics, MetricsLine, MetricsReader } from "../model/metrics-file.ts";
import { reasonOf } from "../reason.ts";
import { maskUrls } from "../secrets.ts";
import { formatBytes, formatCount } from "../units.ts";
import type { World } from "../world.ts";
import { flatten, parsePrometheus } from "./prometheus.ts";

interface Watched {
	/** One for each node: http:// or https://, or the broker's own way. */
	readonly from: readonly (string | MetricsReader)[];
	/** Names of numbers without a type that only grow. */
	readonly counters: RegExp;
	readonly show: readonly string[];
	readonly file: string;
	readonly everySeconds: number;
}

/** Reads what the broker itself counts, once a second until stopped. It never fails: what could not be read is missing, and `notes` say why. */
export function watchBroker(watched: Watched, { clock }: Pick<World, "clock">) {
	const { from, counters, file, everySeconds } = watched;
	// If the disk is full, the run itself reports it.
	const out = createWriteStream(file, { flags: "w" }).on("error", () => {});
	const numbers = new Map<string, number>();
	let leftOut = 0;
	const write = (lines: readonly MetricsLine[]) => {
		if (!out.errored) out.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
	};
	write([{ type: "show", names: [...watched.show] }]);
	const nodes = from.map((one, i) => {
		const reader = typeof one === "string" ? readHttp(one, counters) : one;
		return {
			one,
			node: i + 1,
			reader,
			reads: 0,
			why: "",
			restMs: 0,
			busy: null as Promise<void> | null,
			last: new Map() as Values,
		};
	});
	const look = async (node: (typeof nodes)[number]) => {
		const before = clock.nowMs();
		try {
			const parse = await node.reader.read(AbortSignal.timeout(TIMEOUT_MS));
			const [atMs, began] = [(before + clock.nowMs()) / 2, clock.monotonicMs()];
			const metrics = parse();
			const { series, now } = numbered(metrics, numbers);
			// A series that is gone is null.
			const all = new Map([...node.last].map(([number]): [number, null] => [number, null]));
			const values = [...new Map([...all, ...now])].filter(
				([number, value]) => value !== (node.last.get(number) ?? null),
			);
			write([...series, { type: "sample", node: node.node, unixMs: atMs, values }]);
			node.last = now;
			leftOut = Math.max(leftOut, metrics.size - now.size);
			node.restMs = began + REST * (clock.monotonicMs() - began);
			node.reads++;
		} catch (error) {
			const { name, cause } = error as Error;
			// fetch wraps the reason of a failure.
			const reason = maskUrls(reasonOf(cause instanceof Error ? cause : error));
			node.why = name === "TimeoutError" ? "no answer in time" : reason;
		}
		node.busy = null;
	};
	const tick = () => {
		for (const node of nodes) if (node.restMs <= clock.monotonicMs()) node.busy ??= look(node);
	};
	tick();
	const timer = setInterval(tick, everySeconds * 1000);
	return {
		async stop(): Promise<string[]> {
			clearInterval(timer);
			tick();
			await Promise.all(nodes.map(({ busy }) => busy));
			for (const { reader } of nodes) reader.close();
			out.end();
			await finished(out).catch(() => {});
			const silent = nodes.filter(({ reads }) => reads === 0);
			const notes = silent.map(({ one, why }) => {
				const address = typeof one === "string" ? `: ${maskUrls(one)}` : "";
				return `the broker's metrics could not be read${address}: ${why}`;
			});
			const more = `${formatCount(leftOut)} of the broker's metrics were left out`;
			return leftOut > 0 ? [...notes, `${more}: ${MOST_SERIES} are kept`] : notes;
		},
	};
}

// --- internal ---

/** Shorter than the time between two looks. */
const TIMEOUT_MS = 900;
/** A large page is read less often, so that its parsing takes at most a twentieth of a core from the load. */
const REST = 20;
const MOST_BYTES = 4 * 1024 ** 2;
const MOST_SERIES = 2000;
const MOST_LETTERS = 500;

type Values = Map<number, number | null>;

/** Values by their series' numbers, and the series that got one just now. */
function numbered(metrics: Metrics, numbers: Map<string, number>) {
	const series: MetricsLine[] = [];
	const now: Values = new Map();
	for (const [name, { value, counter }] of metrics) {
		if (!numbers.has(name)) {
			if (numbers.size >= MOST_SERIES || name.length > MOST_LETTERS) continue;
			numbers.set(name, numbers.size);
			series.push({ type: "series", name, counter });
		}
		now.set(numbers.get(name) ?? 0, value);
	}
	return { series, now };
}

/** Prometheus text, or JSON as of nats-server and RabbitMQ's management. */
function readHttp(url: string, counters: RegExp): MetricsReader {
	const bare = new URL(url);
	const login = `${decodeURIComponent(bare.username)}:${decodeURIComponent(bare.password)}`;
	const headers: Record<string, string> =
		login === ":" ? {} : { authorization: `Basic ${Buffer.from(login).toString("base64")}` };
	bare.username = "";
	bare.password = "";
	return {
		async read(signal) {
			const response = await fetch(bare, { headers, signal, redirect: "error" });
			if (!response.ok) throw new Error(`it answers with HTTP status ${response.status}`);
			const pieces: Uint8Array[] = [];
			let bytes = 0;
			for await (const piece of response.body ?? []) {
				pieces.push(piece);
				bytes += piece.length;
				if (bytes > MOST_BYTES)
					throw new Error(`its answer is larger than ${formatBytes(MOST_BYTES)}`);
			}
			const text = Buffer.concat(pieces).toString();
			return () =>
				/^\s*\{\s*"[^"]*"\s*:/.test(text)
					? flatten(JSON.parse(text), counters)
					: parsePrometheus(text);
		},
		close() {},
	};
}
