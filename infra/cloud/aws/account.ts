import type { Cloud } from "../../../runner/scenario/rig-file.ts";
import type { World } from "../../../runner/world.ts";
import type { AccountTrouble } from "../provider.ts";
import { openApi } from "./api.ts";
import { callerOf } from "./caller.ts";

/** The account of the credentials in use: twelve digits. Throws a `Refused`, or a failure when the SDK is missing. */
export async function accountInUse(
	where: Pick<Cloud, "region" | "profile">,
	world: Pick<World, "env" | "stop">,
): Promise<string> {
	return (await callerOf(await openApi(where, world))).account;
}

/**
 * Compares the account that a rig is in with that of the credentials in use: AWS shows others nothing of it, and who takes that for its end
 * forgets machines that run. null: they are the same, or the rig's is not known.
 */
export async function accountTrouble(
	{ account, region, profile }: Pick<Cloud, "account" | "region" | "profile">,
	world: Pick<World, "env" | "stop">,
	ask: typeof accountInUse = accountInUse,
): Promise<AccountTrouble | null> {
	if (account === null) return null;
	let own: string;
	try {
		own = await ask({ region, profile }, world);
	} catch (error) {
		const words = error instanceof Error ? error.message : String(error);
		return {
			sure: false,
			wrong: `it is in account ${account} of AWS, and whose the credentials in use are could not be asked (${words.replace(/\.$/, "")})`,
		};
	}
	return own === account
		? null
		: {
				sure: true,
				wrong: `it is in account ${account} of AWS, and the credentials in use${profile === null ? "" : ` (profile ${profile})`} are of account ${own}, which sees nothing of it; use those of ${account} (such as AWS_PROFILE)`,
			};
}
