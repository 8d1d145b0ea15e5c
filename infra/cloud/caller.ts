import type { World } from "../../runner/world.ts";
import type { Api } from "./api.ts";

/** Who asks AWS. */
export interface Caller {
	readonly account: string;
	/** "arn:aws:iam::123456789012:user/alice". */
	readonly arn: string;
	/** "alice"; of an assumed role its session. Fits a tag. */
	readonly name: string;
}

/** Throws a `Refused`: every account may ask this. */
export async function callerOf(api: Api): Promise<Caller> {
	const { Account = "", Arn = "" } = await api.home.sts.getCallerIdentity({});
	return { account: Account, arn: Arn, name: nameOf(Arn) };
}

/** What an address service answers; throws with the reason, in words for people. */
export async function addressOf(
	world: Pick<World, "stop">,
	service: string = CHECK_IP,
): Promise<string> {
	const limit = AbortSignal.timeout(5_000);
	let text: string;
	try {
		const answer = await fetch(service, {
			signal: AbortSignal.any([limit, world.stop]),
		});
		if (!answer.ok) throw new Error(`it answers with HTTP ${answer.status}`);
		text = (await answer.text()).trim();
	} catch (error) {
		const { cause, message } = error as Error & {
			cause?: { code?: string; message?: string };
		};
		throw new Error(
			limit.aborted
				? "no answer within 5s"
				: (cause?.code ?? cause?.message ?? message),
		);
	}
	if (!isIpv4(text))
		throw new Error(`${JSON.stringify(text.slice(0, 60))} is no IPv4 address`);
	return text;
}

/** AWS's own service that says under which address it sees a caller. */
export const CHECK_IP = "https://checkip.amazonaws.com";

/** "203.0.113.7" and "203.0.113.7/32" -> "203.0.113.7/32"; null: it is not one address. */
export function oneAddress(text: string): string | null {
	const address = text.trim().replace(/\/32$/, "");
	return isIpv4(address) ? `${address}/32` : null;
}

// --- internal ---

function isIpv4(text: string): boolean {
	const parts = text.split(".");
	return (
		parts.length === 4 &&
		parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)
	);
}

function nameOf(arn: string): string {
	const name = arn.split(":").at(-1)?.split("/").at(-1) ?? "";
	return name.replaceAll(/[^\w+=.:/@-]/g, "-").slice(0, 128) || "unknown";
}
