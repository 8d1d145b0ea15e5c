import { tell } from "../../runner/text/tell.ts";
import { formatDuration } from "../../runner/units.ts";
import { timeText } from "./leftover.ts";
import type { TaggedRig, Thing } from "./provider.ts";

/** For people: a rig in one line, and its things below it. */
export function taggedText(rigs: readonly TaggedRig[], nowMs: number): string {
	if (rigs.length === 0) return tell("nothing-tagged", { where: "" });
	return `${rigs
		.flatMap(({ id, owner, expiresAt, expired, chosen, things }) => [
			`${id}  owner ${owner || "not known"}, ${
				expiresAt === null
					? "expiry not known"
					: `${expired ? "expired" : "expires"} ${timeText(expiresAt)}`
			}${chosen ? "" : ", stays"}`,
			...things.map((thing) => `  ${thingText(thing, nowMs)}`),
		])
		.join("\n")}\n`;
}

/** "instance i-0abc (i4i.xlarge, running), 2h old". */
export function thingText({ kind, id, detail, since }: Thing, nowMs: number): string {
	const age = since === null ? null : nowMs - Date.parse(since);
	return `${kind.replaceAll("-", " ")} ${id}${detail === "" ? "" : ` (${detail})`}${age === null || age < 0 ? "" : `, ${formatDuration(Math.floor(age / 60_000) * 60e9)} old`}`;
}
