import { AwsConfig } from "../../aws/config.ts";
import type { Provider } from "../provider.ts";
import { accountInUse, accountTrouble } from "./account.ts";
import { awsFolder } from "./folder.ts";
import { platformOf } from "./machine-type.ts";
import { localTrouble, offer } from "./offer.ts";
import { enabledRegions, findTagged, removeTagged } from "./sweep.ts";

/** Machines of EC2. */
export const aws: Provider = {
	name: "aws",
	target: "aws",
	program: awsFolder,
	parseConfig: (value) => AwsConfig.parse(value),
	// An emulator has no profiles.
	profileOf: (config, env) =>
		config.profile ??
		((config as Partial<AwsConfig>).endpoint ? null : env.AWS_PROFILE || null),
	platformOf,
	localTrouble: (scenario, world) =>
		scenario.aws === null ? [] : localTrouble(scenario.aws, world),
	offer,
	account: accountInUse,
	accountTrouble,
	regions: enabledRegions,
	find: findTagged,
	remove: removeTagged,
};
