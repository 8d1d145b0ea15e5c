import { cp, readFile } from "node:fs/promises";
import path from "node:path";
import type { BrokerName } from "../../runner/brokers/index.ts";
import { type Drivers, type Outside, serverName } from "../../runner/brokers/outside.ts";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { sha256 } from "../../runner/sha256.ts";
import type { World } from "../../runner/world.ts";
import { BUILD_FLAGS, buildArguments, buildKey, described } from "./build.ts";
import { filesIn, treeSum } from "./extension.ts";
import { buildFurther } from "./further.ts";
import { go } from "./go.ts";
import { type Builds, builtOnce } from "./once.ts";
import { ALL_DRIVERS, type Platform, programIn } from "./programs.ts";

/**
 * The k6 with all drivers and these, of which `apart` are ours. Folders are built from a copy that has the sum that was allowed.
 */
export async function withDrivers(
	world: World,
	options: Builds,
	platform: Platform,
	{ found }: Pick<Drivers, "found">,
	apart: readonly BrokerName[],
): Promise<{ folder: string; k6: string; origin: string }> {
	const { extensions, version, progress } = options;
	const own = buildKey(extensions, version, platform, ALL_DRIVERS);
	const key = sha256(
		JSON.stringify([
			own,
			...apart,
			...found.map(({ module, version, sum }) => [module, version, sum]),
		]),
	);
	const ours = apart.map((broker) => path.join(extensions, `xk6-${broker}`));
	const title = [...apart, ...found.map((one) => one.title)].join(" and ");
	const served = found.filter(({ manifest }) => manifest.local?.server !== undefined);
	const servers = served.map(({ manifest }) => ({
		name: serverName(manifest),
		module: "",
		package: "",
	}));
	const programs = [...ALL_DRIVERS, ...servers];
	const { folder } = await builtOnce(world, options, platform, {
		key: key.slice(0, 16),
		programs,
		why: null,
		title: `k6 with all drivers and ${title}`,
		once: " for these files",
		make: async (folder, env) => {
			const out = programIn(folder, "k6", platform);
			const further = await Promise.all(
				found.map(async (one, i) =>
					one.version === null
						? copied(one, path.join(folder, `extension-${i + 1}`))
						: `${one.module}@${one.version}`,
				),
			);
			const how = {
				extensions,
				version,
				platform,
				env,
				stop: world.stop,
				out,
				further: [...ours, ...further],
				sums: [...found.flatMap(lineOf), ...(await Promise.all(ours.map(sumsOf))).flat()],
				bundle: null,
				lock: path.join(folder, "module"),
				drivers: [...apart, ...found.map(({ manifest }) => manifest.broker)],
				onProgress: (phase: "packages", done: number, all: number) =>
					progress.step(phase, done, all),
			};
			try {
				await buildFurther(how);
				for (const { module, manifest } of served) {
					const to = programIn(folder, serverName(manifest), platform);
					const flags = [...BUILD_FLAGS, "-mod=mod"];
					const source = `${module}/${manifest.local?.server?.slice(2)}`;
					await go(buildArguments(version, to, flags, [source]), { ...how, cwd: how.lock });
				}
			} catch (error) {
				throw found.length > 0 ? explained(error, title) : error;
			}
			return described({ ...how, folder, programs, cwd: extensions });
		},
	});
	return {
		folder,
		k6: programIn(folder, "k6", platform),
		origin: [
			"built here from extensions/",
			...found.map((one) => `${one.title} (${one.sum})`),
		].join(" and "),
	};
}

// --- internal ---

/** A module's line of go.sum. */
function lineOf({ module, version, sum }: Outside): string[] {
	return version === null ? [] : [`${module} ${version} ${sum}`];
}

/** Lines of the go.sum of a module of ours. */
async function sumsOf(folder: string): Promise<string[]> {
	return (await readFile(path.join(folder, "go.sum"), "utf8")).trimEnd().split("\n");
}

async function copied({ folder, sum, title }: Outside, to: string): Promise<string> {
	for (const file of await filesIn(folder)) await cp(path.join(folder, file), path.join(to, file));
	if ((await treeSum(to)) === sum) return to;
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
