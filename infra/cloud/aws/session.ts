import { tell } from "../../../runner/text/tell.ts";
import { formatDuration } from "../../../runner/units.ts";
import type { Api } from "./api.ts";

/** How long the credentials are valid that AWS has just accepted. */
export interface Session {
	/** They expire by themselves, as those of a session do. */
	readonly temporary: boolean;
	/** null: not known, or never. */
	readonly endsAtMs: number | null;
	/** Their source gives new ones when they end (a profile, SSO, a role); credentials in the environment stay as they are. */
	readonly renewed: boolean;
}

/** For taking down, with repeated tries. */
const TAKING_DOWN_NS = 10 * 60e9;
/** For machines that stay: until they are up. */
const STANDING_UP_NS = 10 * 60e9;

/** Throws a `Refused`: there are none. */
export async function sessionOf(api: Api): Promise<Session> {
	const { sessionToken, expiration, ...rest } = await api.credentials();
	// The SDK marks where it found them.
	const { $source } = rest as { $source?: Record<string, string> };
	const endsAtMs = expiration?.getTime() ?? Number.NaN;
	// A machine or container of AWS always gets some, without anybody's login.
	const always = $source?.CREDENTIALS_IMDS !== undefined || $source?.CREDENTIALS_HTTP !== undefined;
	const fixed =
		$source?.CREDENTIALS_ENV_VARS !== undefined || $source?.CREDENTIALS_CODE !== undefined;
	return {
		temporary: Boolean(sessionToken) && !always,
		endsAtMs: Number.isFinite(endsAtMs) ? endsAtMs : null,
		renewed: Number.isFinite(endsAtMs) && !fixed,
	};
}

/**
 * Sentences about credentials that end before the machines are taken down; then nobody can take them down, and they run until they end
 * themselves. `plannedNs`: how long the machines are used, including standing up; null: until somebody takes them down, with other
 * credentials by then.
 */
export function sessionTrouble(
	{ temporary, endsAtMs, renewed }: Session,
	plannedNs: number | null,
	nowMs: number,
): { readonly wrong: readonly string[]; readonly warnings: readonly string[] } {
	if (!temporary) return { wrong: [], warnings: [] };
	const neededNs = (plannedNs ?? STANDING_UP_NS) + TAKING_DOWN_NS;
	const needed = `${plannedNs === null ? tell("session-standing-up") : tell("session-all")} up to ${formatDuration(neededNs)}`;
	const without = tell("session-without");
	if (endsAtMs === null)
		return { wrong: [], warnings: [tell("session-end-unknown", { needed, without })] };
	const leftNs = (endsAtMs - nowMs) * 1e6;
	if (leftNs >= neededNs) return { wrong: [], warnings: [] };
	const ends = tell("session-ends", {
		at: new Date(endsAtMs).toISOString(),
		left: leftNs > 0 ? `in ${formatDuration(leftNs)}` : "which is past",
		needed,
	});
	return renewed
		? { wrong: [], warnings: [tell("session-renews", { ends, without })] }
		: { wrong: [tell("session-short", { ends, without })], warnings: [] };
}
