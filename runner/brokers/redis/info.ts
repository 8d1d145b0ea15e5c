import { on } from "node:events";
import { connect, type Socket } from "node:net";
import type { Metrics, MetricsReader } from "../../model/metrics-file.ts";
import { addresses } from "../addresses.ts";

/** Redis' INFO over one connection; the parts that are cheap to make. */
export function infoReader(url: string, counters: RegExp): MetricsReader {
	const [at] = addresses(url, { redis: 6379 });
	let socket: Socket | null = null;
	const open = () => {
		const made = connect(at?.port ?? 0, at?.host)
			.setNoDelay(true)
			.setEncoding("utf8");
		made.on("error", () => {}).write(`AUTH ${decodeURIComponent(new URL(url).password)}\r\n`);
		return made;
	};
	return {
		async read(signal) {
			socket ??= open();
			socket.write("INFO clients\r\nINFO memory\r\nINFO stats\r\nPING end\r\n");
			let text = "";
			try {
				for await (const [piece] of on(socket, "data", { signal, close: ["close"] })) {
					text += piece;
					if (text.endsWith("$3\r\nend\r\n")) return () => parseInfo(text, counters);
				}
				throw new Error("it closed the connection");
			} catch (error) {
				socket.destroy();
				socket = null;
				throw error;
			}
		},
		close: () => socket?.destroy(),
	};
}

/** "name:number" */
export function parseInfo(text: string, counters: RegExp): Metrics {
	const pairs = [...text.matchAll(/^(\w+):(-?\d+(?:\.\d+)?)\r?$/gm)];
	return new Map(
		pairs.map(([, name = "", n]) => [name, { value: Number(n), counter: counters.test(name) }]),
	);
}
