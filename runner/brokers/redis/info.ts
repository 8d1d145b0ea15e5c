import { connect, type Socket } from "node:net";
import type { Metrics, MetricsReader } from "../../model/metrics-file.ts";
import { addresses } from "../addresses.ts";

/** Redis' INFO over one connection; the parts that are cheap to make. */
export function infoReader(url: string, counters: RegExp): MetricsReader {
	const [at] = addresses(url, { redis: 6379 });
	const password = decodeURIComponent(new URL(url).password);
	let socket: Socket | null = null;
	const open = () => {
		const made = connect(at?.port ?? 0, at?.host);
		made
			.setNoDelay(true)
			.setEncoding("utf8")
			.on("error", () => {});
		made.once("close", () => {
			if (socket === made) socket = null;
		});
		made.write(`AUTH ${password}\r\n`);
		return made;
	};
	return {
		read: (stop) =>
			new Promise<Metrics>((resolve, reject) => {
				socket ??= open();
				const on = socket;
				let text = "";
				const end = () => {
					on.off("data", hear).off("error", fail);
					stop.removeEventListener("abort", late);
				};
				const fail = (error: Error) => {
					end();
					on.destroy();
					socket = null;
					reject(error);
				};
				const late = () => fail(stop.reason);
				const hear = (piece: string) => {
					text += piece;
					if (text.length > MOST_LETTERS) fail(new Error("its answer is too large"));
					if (!text.endsWith("$3\r\nend\r\n")) return;
					end();
					resolve(parseInfo(text, counters));
				};
				on.on("data", hear).on("error", fail);
				stop.addEventListener("abort", late);
				on.write("INFO clients\r\nINFO memory\r\nINFO stats\r\nPING end\r\n");
			}),
		close: () => socket?.destroy(),
	};
}

/** Redis' INFO: "name:number". */
export function parseInfo(text: string, counters: RegExp): Metrics {
	const pairs = [...text.matchAll(/^(\w+):(-?\d+(?:\.\d+)?)\r?$/gm)];
	return new Map(
		pairs.map(([, name = "", value]) => [
			name,
			{ value: Number(value), counter: counters.test(name) },
		]),
	);
}

// --- internal ---

const MOST_LETTERS = 2 ** 20;
