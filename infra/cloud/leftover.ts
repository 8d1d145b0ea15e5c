import type { RigFile } from "../../runner/scenario/rig-file.ts";
import { commandLine } from "../../runner/shell.ts";
import { formatDuration } from "../../runner/units.ts";
import type { TaggedRig, Thing } from "./provider.ts";

/** What is known about a rig that is not down. */
export interface Leftover {
	readonly id: string;
	readonly region: string | null;
	readonly profile: string | null;
	/** When the machines end themselves; null: not known. */
	readonly expiresAt: string | null;
	/** What is left of it, one line each; null: nobody can find out. */
	readonly resources: readonly string[] | null;
	/** Why it was not taken down: one or more sentences. */
	readonly reason: string;
}

/** For people: what is left, when its machines end by themselves, and the commands that take it down. */
export function leftText(left: Leftover, nowMs: number): string {
	const { id, region, resources, reason } = left;
	const count = resources?.length ?? 0;
	const what =
		resources === null || count === 0
			? "what is left of it is not known"
			: `${count} of its resources ${count === 1 ? "is" : "are"} left`;
	return [
		`The rig ${id} is not down${region === null ? "" : ` in ${region}`}: ${what}.`,
		...(resources ?? []).map((line) => `  ${line}`),
		`Why: ${reason.replace(/\.$/, "")}.`,
		resources === null || resources.some((line) => MACHINE.test(line))
			? endText(left.expiresAt, nowMs)
			: "None of it is a machine.",
		...commands(left),
	].join("\n");
}

/** For people who leave before it is down: nobody asks the cloud any more. */
export function goneText(
	file: Pick<RigFile, "id" | "cloud" | "expiresAt">,
	doing: string,
	nowMs: number,
): string {
	const { id, cloud, expiresAt } = file;
	return [
		`The rig ${id} is left${cloud === null ? "" : ` in ${cloud.region}: ${machinesText(cloud.machines)}${cloud.hourlyUsd === null ? "" : `, $${cloud.hourlyUsd.toFixed(2)} an hour`}`}.${doing === "" ? "" : ` ${doing}`}`,
		endText(expiresAt, nowMs),
		...commands({ id, region: cloud?.region ?? null, profile: cloud?.profile ?? null }),
	].join("\n");
}

/** "3 i4i.xlarge, 2 c6in.xlarge". */
export function machinesText(machines: Readonly<Record<string, number>>) {
	return Object.entries(machines)
		.map(([type, count]) => `${count} ${type}`)
		.join(", ");
}

/** "2026-11-20 14:05 UTC". */
export function timeText(iso: string): string {
	return `${new Date(iso).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

export function findByTag({
	id,
	region,
	profile,
}: Pick<Leftover, "id" | "region" | "profile">): string {
	return `Find it by its tag:   mqbench rigs sweep${region === null ? "" : ` --region ${commandLine([region])}`} --id ${commandLine([id])}${profile === null ? "" : ` --profile ${commandLine([profile])}`}`;
}

/** For people: a rig in one line, and its things below it. */
export function taggedText(rigs: readonly TaggedRig[], nowMs: number): string {
	if (rigs.length === 0) return "Nothing has the tag mqbench:run.\n";
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

// --- internal ---

/** Names from Pulumi or from a sweep. */
const MACHINE = /:Instance\b|^instance /;

function endText(expiresAt: string | null, nowMs: number): string {
	if (expiresAt === null) return "It is not known when its machines end by themselves.";
	return Date.parse(expiresAt) <= nowMs
		? `Its machines should have ended themselves at ${timeText(expiresAt)}; everything else stays.`
		: `Its machines end themselves by ${timeText(expiresAt)}; until then they cost money; everything else stays.`;
}

function commands(rig: Pick<Leftover, "id" | "region" | "profile">): string[] {
	return [`Take it down:         mqbench rigs destroy ${rig.id}`, findByTag(rig)];
}
