import { cp } from "node:fs/promises";
import path from "node:path";
import { moduleName, type Outside } from "../../runner/brokers/outside.ts";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { sha256 } from "../../runner/sha256.ts";
import type { World } from "../../runner/world.ts";
import { buildKey, described } from "./build.ts";
import { filesIn, type Module, treeSum } from "./extension.ts";
import { buildFurther } from "./further.ts";
import { type Builds, builtOnce } from "./once.ts";
import { ALL_DRIVERS, type Platform, programIn } from "./programs.ts";

/** A driver that is in no k6 of ours: one of mqbench's that is linked when a scenario has it, or one from outside. */
export type Apart = Outside | (Module & { readonly title: string });

/** The k6 with all drivers and these. Folders from outside are built from a copy that has the sum that was allowed. */
export async function withDrivers(
	world: World,
	options: Builds,
	platform: Platform,
	modules: readonly Apart[],
): Promise<{ readonly k6: string; readonly origin: string }> {
	const { extensions, version } = options;
	const own = buildKey(extensions, version, platform, ALL_DRIVERS);
	const key = sha256(
		JSON.stringify([own, ...modules.map(({ module, version, sum }) => [module, version, sum])]),
	);
	const title = modules.map((one) => one.title).join(" and ");
	const outside = modules.filter((one) => "manifest" in one);
	const { folder } = await builtOnce(world, options, platform, {
		key: key.slice(0, 16),
		programs: ALL_DRIVERS,
		title: `k6 with all drivers and ${title}`,
		once: " for these files",
		make: async (how) => {
			try {
				const linked = await Promise.all(modules.map((one) => copied(one, how.folder)));
				await buildFurther({ ...how, bundle: null, modules: linked });
			} catch (error) {
				throw outside.length > 0 ? explained(error, title) : error;
			}
			return described(how);
		},
	});
	return {
		k6: programIn(folder, "k6", platform),
		origin: [
			"built here from extensions/",
			...outside.map((one) => `${one.title} (${one.sum})`),
		].join(" and "),
	};
}

// --- internal ---

async function copied(one: Apart, into: string): Promise<Module> {
	if (!("manifest" in one) || one.version !== null) return one;
	const { folder, sum, title, manifest } = one;
	const to = path.join(into, moduleName(manifest));
	for (const file of await filesIn(folder)) await cp(path.join(folder, file), path.join(to, file));
	if ((await treeSum(to)) === sum) return { ...one, folder: to };
	const reason = "its files changed while they were read";
	throw failure("extension-refused", { extension: title, reason });
}

/** Go's last words are about the stranger's code, not ours. */
function explained(error: unknown, extension: string): unknown {
	if (!(error instanceof MqbenchError) || !/^(go-build|go-sum|k6-unusable)$/.test(error.code))
		return error;
	const { last, reason } = error.details as { readonly [_ in "last" | "reason"]?: string };
	return failure("extension-build", { extension, last: last ?? reason });
}
