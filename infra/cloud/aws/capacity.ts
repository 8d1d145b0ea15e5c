import type { NoRoom } from "../provider.ts";

/**
 * AWS's answer that it has no machines of a type free in a zone, in what Pulumi says of a failure; null: it failed for another reason. Quotas
 * are not among them: they are the same in every zone.
 */
export function noRoom(words: string): NoRoom | null {
	const [, code, reason] = NO_ROOM.exec(words) ?? [];
	if (code === undefined) return null;
	// "We currently do not have ...": which zones have it, which follows, was true only then.
	const [first = ""] = (reason ?? "").trim().split(/\.(?:\s|$)/);
	return { code, words: first.slice(0, 300) };
}

// --- internal ---

/**
 * EC2's codes (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html), also as the reason of a machine that ended while
 * it was being made: "Server.InsufficientInstanceCapacity". "Unsupported" also means other things than a zone.
 */
const NO_ROOM =
	/\b(Insufficient(?:Instance|Host|Volume)?Capacity|UnfulfillableCapacity|Unsupported(?=: [^\n]*Availability Zone))\b:?([^\n]*)/;
