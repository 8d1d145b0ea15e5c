import { randomBytes } from "node:crypto";

/** Names the runs of a command, and sorts by time: "quickstart-20261120-101746-3f2a". */
export function newRunId(scenario: string, nowMs: number): string {
	const stamp = new Date(nowMs)
		.toISOString()
		.replaceAll(/[-:]/g, "")
		.replace("T", "-")
		.slice(0, 15);
	return `${scenario}-${stamp}-${randomBytes(2).toString("hex")}`;
}
