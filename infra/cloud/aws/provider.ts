import { AwsConfig } from "../../aws/config.ts";
import { openStack } from "../automation.ts";
import { gatheredIn } from "../gathered.ts";
import type { Provider } from "../provider.ts";
import { findPulumi } from "../pulumi-cli.ts";
import { openApi } from "./api.ts";
import { callerOf } from "./caller.ts";
import { consoleOf } from "./console.ts";
import { awsFolder } from "./folder.ts";
import { platformOf } from "./machine-type.ts";
import { localTrouble, offer } from "./offer.ts";
import { remedyFor } from "./refusals.ts";
import { enabledRegions, findTagged, removeTagged } from "./sweep.ts";

/** Machines of EC2. */
export const aws: Provider = {
	name: "aws",
	target: "aws",
	profileVariable: "AWS_PROFILE",
	parseConfig: (value) => AwsConfig.parse(value),
	// An emulator has no profiles.
	profileOf: (config, env) =>
		config.profile ?? ((config as Partial<AwsConfig>).endpoint ? null : env.AWS_PROFILE || null),
	platformOf,
	async localTrouble({ aws }, world) {
		const wrong = aws === null ? [] : localTrouble(aws, world);
		await findPulumi(world, awsFolder).catch(gatheredIn(wrong));
		return wrong;
	},
	open: (folder, world, asked) => openStack(folder, world, { ...asked, program: awsFolder }),
	offer,
	remedyFor,
	console: consoleOf,
	account: async (where, world) => (await callerOf(await openApi(where, world))).account,
	regions: enabledRegions,
	find: findTagged,
	remove: removeTagged,
};
