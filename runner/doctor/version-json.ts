import { packageVersion } from "../package.ts";
import type { World } from "../world.ts";
import { findGenerator, type Generator } from "./generator.ts";

/** What `mqbench --version --json` prints. Fields are added, never renamed. */
export interface VersionJson {
	readonly mqbench: string;
	readonly node: string;
	/** "linux-x64" */
	readonly platform: string;
	/** Where k6, nats-server and agent would come from. */
	readonly programs: Generator;
}

export async function versionJson(world: World): Promise<VersionJson> {
	return {
		...{ mqbench: packageVersion, node: process.version },
		platform: `${process.platform}-${process.arch}`,
		programs: await findGenerator(world),
	};
}
