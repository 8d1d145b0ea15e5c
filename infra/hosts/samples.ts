import { readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { ResourceLine } from "../../runner/model/resource-file.ts";
import { fetchFile } from "../clients/ssh-workspace.ts";
import type { BrokerHost } from "./host.ts";

/** Name of the file of a broker's node (from 1) in the folder of a run: lines as in runner/run/resource-file.ts. */
export function brokerSamples(node: number): string {
	return `resources-broker-${node}.jsonl`;
}

/** Says that a node will have samples: a sum of others is not to be taken for the broker's when they do not come. */
export async function expectSamples(
	node: number,
	folder: string,
): Promise<void> {
	await writeFile(path.join(folder, brokerSamples(node)), "");
}

/** Brings what a node's host has used to the folder of the run: what is missing is unknown. */
export async function fetchSamples(
	{ ssh, link }: BrokerHost,
	control: string,
	node: number,
	folder: string,
): Promise<void> {
	if (!link.alive()) return;
	const name = brokerSamples(node);
	if (!(await fetchFile(ssh, link, control, name, folder))) return;
	const file = path.join(folder, name);
	await writeFile(`${file}.part`, brokerLines(await readFile(file, "utf8")));
	await rename(`${file}.part`, file);
}

/**
 * Agent's samples of a node, whose counters begin anew when it is started again, and go on here; while it is down it holds no memory. Lines that are
 * cut short are left out.
 */
export function brokerLines(text: string): string {
	let before = NOTHING;
	let last = NOTHING;
	let lived = false;
	return text
		.split("\n")
		.flatMap((line) => {
			const read = parse(line);
			if (read === null) return [];
			const now = read.broker ?? NOTHING;
			if (fell(last, now)) {
				before = plus(before, last);
				last = NOTHING;
			}
			last = known(now, last);
			lived ||= now.rssBytes !== null;
			const broker = {
				...plus(before, last),
				rssBytes: now.rssBytes ?? (lived ? 0 : null),
			};
			return [`${JSON.stringify({ ...read, broker })}\n`];
		})
		.join("");
}

// --- internal ---

type Usage = NonNullable<ResourceLine["generator"]>;

const NOTHING: Usage = {
	cpuNs: null,
	rssBytes: null,
	readBytes: null,
	writeBytes: null,
};

function parse(line: string): ResourceLine | null {
	try {
		return ResourceLine.parse(JSON.parse(line));
	} catch {
		return null;
	}
}

/** What of a process that has ended cannot be read any more is what it was. */
function known(now: Usage, last: Usage): Usage {
	return {
		cpuNs: now.cpuNs ?? last.cpuNs,
		rssBytes: null,
		readBytes: now.readBytes ?? last.readBytes,
		writeBytes: now.writeBytes ?? last.writeBytes,
	};
}

/** A process that has used less than before is another one. */
function fell(was: Usage, is: Usage): boolean {
	return was.cpuNs !== null && is.cpuNs !== null && is.cpuNs < was.cpuNs;
}

function plus(a: Usage, b: Usage): Usage {
	const sum = (x: number | null, y: number | null) =>
		x === null ? y : y === null ? x : x + y;
	return {
		cpuNs: sum(a.cpuNs, b.cpuNs),
		rssBytes: null,
		readBytes: sum(a.readBytes, b.readBytes),
		writeBytes: sum(a.writeBytes, b.writeBytes),
	};
}
