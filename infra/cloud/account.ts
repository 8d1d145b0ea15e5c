import { CLOUD_TITLES } from "../../runner/model/targets.ts";
import type { Cloud } from "../../runner/scenario/rig-file.ts";
import { tell } from "../../runner/text/tell.ts";
import type { World } from "../../runner/world.ts";
import type { Provider } from "./provider.ts";

/** Why a rig must not be touched with the credentials in use. */
export interface AccountTrouble {
	/** A part of a sentence, with the account of the rig. */
	readonly wrong: string;
	/** false: the cloud did not say whose credentials they are. */
	readonly sure: boolean;
}

/**
 * Compares the rig's account with that of the credentials in use. A cloud shows nothing of a rig to other accounts, so mqbench would take it
 * for gone and forget machines that run. null: the accounts are the same, or the rig's is not known.
 */
export async function accountTrouble(
	provider: Pick<Provider, "name" | "account" | "profileVariable">,
	{ account, region, profile }: Pick<Cloud, "account" | "region" | "profile">,
	world: Pick<World, "env" | "stop">,
): Promise<AccountTrouble | null> {
	if (account === null) return null;
	const where = `it is in account ${account} of ${CLOUD_TITLES[provider.name]}`;
	let own: string;
	try {
		own = await provider.account({ region, profile }, world);
	} catch (error) {
		const words = error instanceof Error ? error.message : String(error);
		return {
			sure: false,
			wrong: tell("account-caller-unknown", { where, reason: words.replace(/\.$/, "") }),
		};
	}
	return own === account
		? null
		: {
				sure: true,
				wrong: tell("account-other", {
					where,
					profile: profile === null ? "" : ` (profile ${profile})`,
					own,
					account,
					variable: provider.profileVariable,
				}),
			};
}
