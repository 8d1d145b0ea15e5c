import type { World } from "../../../runner/world.ts";
import { type Api, proxyText } from "./api.ts";

/** The identity that calls AWS. */
export interface Caller {
	readonly account: string;
	/** "arn:aws:iam::123456789012:user/alice". */
	readonly arn: string;
	/** "alice"; for an assumed role its session. Fits into a tag. */
	readonly name: string;
}

/** Throws a `Refused`. Every account may ask this. */
export async function callerOf(api: Api): Promise<Caller> {
	const { Account = "", Arn = "" } = await api.home.sts.getCallerIdentity({});
	return { account: Account, arn: Arn, name: nameOf(Arn) };
}

/** The answer of a service that reports the caller's address. On failure throws the reason, for people. */
export async function addressOf(
	world: Pick<World, "env" | "stop">,
	service: string = CHECK_IP,
): Promise<string> {
	const limit = AbortSignal.timeout(5_000);
	let text: string;
	try {
		const answer = await fetch(service, { signal: AbortSignal.any([limit, world.stop]) });
		if (!answer.ok) throw new Error(`it answers with HTTP ${answer.status}`);
		text = (await answer.text()).trim();
	} catch (error) {
		const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
		const reason = limit.aborted
			? "no answer within 5s"
			: (cause?.code ?? cause?.message ?? message);
		// It is an answer, even if a wrong one: do not try another way.
		const proxy = limit.aborted || cause ? proxyText(world.env) : null;
		throw new Error([reason, ...(proxy === null ? [] : [proxy])].join("; "));
	}
	if (!isIpv4(text)) throw new Error(`${JSON.stringify(text.slice(0, 60))} is not an IPv4 address`);
	return text;
}

/** AWS's own service that reports a caller's address. */
export const CHECK_IP = "https://checkip.amazonaws.com";

/** "203.0.113.7" and "203.0.113.7/32" -> "203.0.113.7/32"; null: it is not one address. */
export function oneAddress(text: string): string | null {
	const address = text.trim().replace(/\/32$/, "");
	return isIpv4(address) ? `${address}/32` : null;
}

/** Addresses that the internet never sees: private networks, a provider's own, this machine. */
export function isPrivate(cidr: string): boolean {
	const [a = 0, b = 0] = cidr.split(".").map(Number);
	return (
		a === 10 ||
		a === 127 ||
		(a === 172 && b >= 16 && b < 32) ||
		(a === 192 && b === 168) ||
		(a === 100 && b >= 64 && b < 128)
	);
}

// --- internal ---

function isIpv4(text: string): boolean {
	const parts = text.split(".");
	return parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256);
}

function nameOf(arn: string): string {
	const name = arn.split(":").at(-1)?.split("/").at(-1) ?? "";
	return name.replaceAll(/[^\w+=.:/@-]/g, "-").slice(0, 128) || "unknown";
}
