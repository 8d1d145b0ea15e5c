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
			const to = socket ?? open();
			socket = to;
			try {
				// k6's engine, which reads this file too, has no `for await`.
				const text = await new Promise<string>((resolve, reject) => {
					let text = "";
					to.removeAllListeners("data")
						.removeAllListeners("close")
						.on("data", (piece) => {
							text += piece;
							if (text.endsWith("$3\r\nend\r\n")) resolve(text);
						})
						.on("close", () => reject(new Error("it closed the connection")));
					signal.addEventListener("abort", () => reject(signal.reason), { once: true });
					to.write("INFO clients\r\nINFO memory\r\nINFO stats\r\nPING end\r\n");
				});
				return () => parseInfo(text, counters);
			} catch (error) {
				to.destroy();
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
