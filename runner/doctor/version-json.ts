import { packageVersion } from "../package.ts";
import type { World } from "../world.ts";
import { findGenerator, type Generator, ownBuild } from "./generator.ts";

/** What `mqbench --version --json` prints. Fields are added, never renamed. */
export interface VersionJson {
	readonly mqbench: string;
	readonly node: string;
	/** "linux-x64" */
	readonly platform: string;
	/** Where k6, nats-server and agent would come from. */
	readonly programs: Generator;
	/** What it keeps: the folder, and below bin/ there the name of what it builds of its own sources. For caches of CI. */
	readonly cache: { readonly folder: string; readonly build: string };
}

export async function versionJson(world: World): Promise<VersionJson> {
	const { cache, key } = ownBuild(world);
	return {
		mqbench: packageVersion,
		node: process.version,
		platform: `${process.platform}-${process.arch}`,
		programs: await findGenerator(world),
		cache: { folder: cache, build: key },
	};
}
