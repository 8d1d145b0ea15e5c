import { CLOUDS, type CloudName } from "../../runner/model/targets.ts";
import type { Cloud } from "../../runner/scenario/rig-file.ts";
import type { Provider } from "./provider.ts";

export type Clouds = (cloud: CloudName) => Promise<Provider>;

/** Loads the code for a cloud. Its SDK is loaded only when it is asked something. */
export function providerOf(cloud: CloudName): Promise<Provider> {
	return providers[cloud]();
}

/** The cloud of a rig; if its rig.json is lost, the only one there is. */
export function providerOfRig(
	rig: { readonly cloud: Cloud | null } | null,
	clouds: Clouds,
): Promise<Provider> {
	return clouds(rig?.cloud?.provider ?? (CLOUDS[0] as CloudName));
}

// --- internal ---

const providers: Readonly<Record<CloudName, () => Promise<Provider>>> = {
	aws: async () => (await import("./aws/provider.ts")).aws,
};
