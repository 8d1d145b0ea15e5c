import { rigEndsAt } from "../../runner/plan/warnings.ts";
import type { Cloud } from "../../runner/scenario/rig-file.ts";
import { commandLine } from "../../runner/shell.ts";
import { formatDuration, formatUtc } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { type KnownRig, rigsFolder } from "./rigs.ts";
import { isOver, machinesText } from "./take-down.ts";

/** `mqbench rigs list`, for people: rigs that this machine remembers. */
export function rigsText(rigs: readonly KnownRig[], world: World): string {
	if (rigs.length === 0)
		return `No rigs are known here (${rigsFolder(world)}).\nTo find rigs of another machine, or after a loss of the state: npx mqbench rigs sweep\n`;
	const nowMs = world.clock.nowMs();
	return [
		...rigs.flatMap((rig) => lineOf(rig, nowMs)),
		...(rigs.some(({ file }) => file !== null && isOver(rigEndsAt(file), nowMs))
			? [
					"Machines past that time should have ended themselves; networks and keys stay until they are taken down.",
				]
			: []),
		...rigs.flatMap(({ folder, trouble }) =>
			trouble === null
				? []
				: `${folder.path}: ${trouble}. If it was a rig: npx mqbench rigs destroy ${commandLine([folder.id])}`,
		),
		"Take one down: npx mqbench rigs destroy <rig>",
	]
		.map((line) => `${line}\n`)
		.join("");
}

/** A rig in `rigs list --json`; null if unknown. */
export function rigForPrograms({ folder, file, trouble }: KnownRig): object {
	const { createdAt = null, expiresAt = null, cloud = null } = file ?? {};
	const of = (key: keyof Cloud) => [key, cloud?.[key] ?? null];
	const known = ["region", "profile", "account", "machines", "hourlyUsd", "endsAt"] as const;
	const about = Object.fromEntries(known.map(of));
	return { id: folder.id, ...about, createdAt, expiresAt, folder: folder.path, trouble };
}

// --- internal ---

function lineOf({ folder, file }: KnownRig, nowMs: number): string[] {
	if (file?.cloud == null) return [];
	const { region, machines, hourlyUsd } = file.cloud;
	const end = rigEndsAt(file);
	const over = isOver(end, nowMs);
	// The number of machines is final once all of them are up.
	const upTo = file.clients.length > 0 && !over ? "" : "up to ";
	const usd = hourlyUsd === null ? "price not known" : `${upTo}$${hourlyUsd.toFixed(2)} an hour`;
	const age = `${spanText(nowMs - Date.parse(file.createdAt ?? ""))} old`;
	const then = over ? "over" : `in ${spanText(Date.parse(end ?? "") - nowMs)}`;
	const ends = end === null ? "end not known" : `${formatUtc(end)} UTC, ${then}`;
	return [[folder.id, region, machinesText(machines), usd, age, ends].join("  ")];
}

/** Whole minutes; seconds do not matter here. */
function spanText(ms: number): string {
	return ms < 60_000 ? "under 1min" : formatDuration(Math.floor(ms / 60_000) * 60e9);
}
