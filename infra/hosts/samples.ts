import { writeFile } from "node:fs/promises";
import path from "node:path";
import { fetchFile } from "../machines/files.ts";
import type { HostSite } from "./sites.ts";

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
	{ host: { remote, link }, folders }: Pick<HostSite, "host" | "folders">,
	node: number,
	folder: string,
): Promise<void> {
	if (link.alive()) await fetchFile(remote, link, folders.control, brokerSamples(node), folder);
}
