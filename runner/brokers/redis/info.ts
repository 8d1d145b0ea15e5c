import { connect } from "node:net";
import type { Metrics, MetricsReader } from "../../model/metrics-file.ts";
import { addresses } from "../addresses.ts";

/** Redis' INFO, over a connection for each look; the parts that are cheap to make. */
export function infoReader(url: string, counters: RegExp): MetricsReader {
	const [{ host, port } = { host: "", port: 0 }] = addresses(url, { redis: 6379 });
	const password = decodeURIComponent(new URL(url).password);
	return {
		async read(signal) {
			const socket = connect({ host, port, signal }).setEncoding("utf8");
			socket.write(`AUTH ${password}\r\nINFO clients\r\nINFO memory\r\nINFO stats\r\nQUIT\r\n`);
			// k6's engine, which reads this file too, has no `for await`.
			const pieces = await socket.toArray().catch((error) => {
				signal.throwIfAborted();
				throw error;
			});
			const text = pieces.join("");
			if (!text.endsWith("\r\n+OK\r\n")) throw new Error("it closed the connection");
			return () => parseInfo(text, counters);
		},
		close() {},
	};
}

/** "name:number" */
export function parseInfo(text: string, counters: RegExp): Metrics {
	const pairs = [...text.matchAll(/^(\w+):(-?\d+(?:\.\d+)?)\r?$/gm)];
	return new Map(
		pairs.map(([, name = "", n]) => [name, { value: Number(n), counter: counters.test(name) }]),
	);
}
