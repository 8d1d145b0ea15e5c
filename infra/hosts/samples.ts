import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { ResourceLine } from "../../runner/model/resource-file.ts";
import { writeWhole } from "../../runner/whole-file.ts";
import { fetchFile } from "../remote/workspace.ts";
import type { BrokerHost } from "./host.ts";

/** Name of the file of a broker's node (from 1) in the folder of a run: lines as in runner/model/resource-file.ts. */
export function brokerSamples(node: number): string {
	return `resources-broker-${node}.jsonl`;
}

/** Announces samples of a node, so that a sum without them is not taken for the broker's if they are missing. */
export async function expectSamples(node: number, folder: string): Promise<void> {
	await writeFile(path.join(folder, brokerSamples(node)), "");
}

/** Fetches a node's use of resources to the folder of the run. What is missing counts as unknown. */
export async function fetchSamples(
	{ remote, link }: BrokerHost,
	control: string,
	node: number,
	folder: string,
): Promise<void> {
	if (!link.alive()) return;
	const name = brokerSamples(node);
	if (!(await fetchFile(remote, link, control, name, folder))) return;
	const file = path.join(folder, name);
	writeWhole(file, brokerLines(await readFile(file, "utf8")));
}

/**
 * Agent's samples of a node. Its counters restart with the node and continue here; while it is down it uses no memory. Incomplete lines are
 * skipped.
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
			const broker = { ...plus(before, last), rssBytes: now.rssBytes ?? (lived ? 0 : null) };
			return [`${JSON.stringify({ ...read, broker })}\n`];
		})
		.join("");
}

// --- internal ---

type Usage = NonNullable<ResourceLine["generator"]>;

const NOTHING: Usage = {
	cpuNs: null,
	waitNs: null,
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

/** What can no longer be read of a process that has ended stays as it was. */
function known(now: Usage, last: Usage): Usage {
	return {
		cpuNs: now.cpuNs ?? last.cpuNs,
		waitNs: now.waitNs ?? last.waitNs,
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
	const sum = (x: number | null, y: number | null) => (x === null ? y : y === null ? x : x + y);
	return {
		cpuNs: sum(a.cpuNs, b.cpuNs),
		waitNs: sum(a.waitNs, b.waitNs),
		rssBytes: null,
		readBytes: sum(a.readBytes, b.readBytes),
		writeBytes: sum(a.writeBytes, b.writeBytes),
	};
}
