import type { RigFile } from "../scenario/rig-file.ts";
import { formatDuration } from "../units.ts";
import type { World } from "../world.ts";

/** Its machines may end by themselves from then on; null: it has no end, or nobody knows it. */
export function rigEndsAt({ cloud, expiresAt }: RigFile): string | null {
	return cloud?.endsAt ?? expiresAt;
}

/** What is to be said of a rig that may not last as long as what is to be done on it takes: `doing` is "the runs take". */
export function rigExpiryWarnings(
	rig: RigFile | null,
	takesNs: number,
	{ doing, remedy }: { readonly doing: string; readonly remedy: string },
	{ clock }: Pick<World, "clock">,
): string[] {
	const end = rig === null ? null : rigEndsAt(rig);
	if (rig === null || end === null) return [];
	const leftNs = (Date.parse(end) - clock.nowMs()) * 1e6;
	if (leftNs < 0)
		return [
			`the rig ${rig.id} has expired (${end}): what is measured on it may end at any moment; stand a new one up`,
		];
	return leftNs < takesNs
		? [
				`the rig ${rig.id} ends in ${formatDuration(leftNs)} (${end}), and ${doing} up to ${formatDuration(takesNs)}: ${remedy}`,
			]
		: [];
}
