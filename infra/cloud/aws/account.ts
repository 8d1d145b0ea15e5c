import type { Cloud } from "../../../runner/scenario/rig-file.ts";
import type { World } from "../../../runner/world.ts";
import { openApi } from "./api.ts";
import { callerOf } from "./caller.ts";

/** The account of the credentials in use: twelve digits. Throws a `Refused`, or a failure when the SDK is missing. */
export async function accountInUse(
	where: Pick<Cloud, "region" | "profile">,
	world: Pick<World, "env" | "stop">,
): Promise<string> {
	return (await callerOf(await openApi(where, world))).account;
}
