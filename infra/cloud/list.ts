import { largestOf } from "../../runner/extremes.ts";
import { rigEndsAt } from "../../runner/plan/warnings.ts";
import { commandLine } from "../../runner/shell.ts";
import { formatDuration } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { isOver } from "./expiry.ts";
import { machinesText, timeText } from "./leftover.ts";
import { type KnownRig, rigsFolder } from "./rigs.ts";

/** `mqbench rigs list`, for people: rigs that this machine remembers. */
export function rigsText(rigs: readonly KnownRig[], world: World): string {
	if (rigs.length === 0)
		return `No rigs are known here (${rigsFolder(world)}).\nTo find rigs of another machine, or after a loss of the state: mqbench rigs sweep\n`;
	const nowMs = world.clock.nowMs();
	const whole = rigs.filter(({ file }) => file !== null);
	const rows = whole.map((rig) => row(rig, nowMs));
	const over = whole.some(({ file }) => file !== null && isOver(rigEndsAt(file), nowMs));
	return [
		rows.length > 0 ? table([HEADS, ...rows]) : "",
		over
			? "Machines past that time should have ended themselves; networks and keys stay until they are taken down.\n"
			: "",
		...rigs.map(({ folder, trouble }) =>
			trouble === null
				? ""
				: `${folder.path}: ${trouble}. If it was a rig: mqbench rigs destroy ${commandLine([folder.id])}\n`,
		),
		"Take one down: mqbench rigs destroy <rig>\n",
	].join("");
}

/** A rig in `rigs list --json`; null: not known. */
export function rigForPrograms({ folder, file, trouble }: KnownRig) {
	const { cloud = null, createdAt = null, expiresAt = null } = file ?? {};
	return {
		id: folder.id,
		region: cloud?.region ?? null,
		profile: cloud?.profile ?? null,
		account: cloud?.account ?? null,
		machines: cloud?.machines ?? null,
		hourlyUsd: cloud?.hourlyUsd ?? null,
		createdAt,
		endsAt: cloud?.endsAt ?? null,
		expiresAt,
		folder: folder.path,
		trouble,
	};
}

// --- internal ---

const HEADS = ["RIG", "REGION", "MACHINES", "$/H", "AGE", "ENDS"];

function row({ folder, file }: KnownRig, nowMs: number): string[] {
	if (file?.cloud == null) return [];
	const { cloud, createdAt } = file;
	const end = rigEndsAt(file);
	return [
		folder.id,
		cloud.region,
		machinesText(cloud.machines),
		cloud.hourlyUsd === null
			? "not known"
			: // Machines are known once all of them are up.
				`${file.clients.length > 0 && !isOver(end, nowMs) ? "" : "up to "}${cloud.hourlyUsd.toFixed(2)}`,
		createdAt === undefined ? "not known" : spanText(nowMs - Date.parse(createdAt)),
		end === null
			? "not known"
			: `${timeText(end)}${isOver(end, nowMs) ? ", over" : `, in ${spanText(Date.parse(end) - nowMs)}`}`,
	];
}

/** Whole minutes; seconds do not matter here. */
function spanText(ms: number): string {
	return ms < 60_000 ? "under 1min" : formatDuration(Math.floor(ms / 60_000) * 60e9);
}

function table(rows: readonly (readonly string[])[]): string {
	const widths = HEADS.map((_, i) => largestOf(rows.map((cells) => cells[i]?.length ?? 0)));
	return rows
		.map((cells) =>
			cells
				.map((cell, i) => cell.padEnd(widths[i] ?? 0))
				.join("  ")
				.trimEnd(),
		)
		.map((line) => `${line}\n`)
		.join("");
}
