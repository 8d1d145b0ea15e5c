import { isDeepStrictEqual } from "node:util";
import { hideSecrets } from "../runner/brokers/index.ts";
import type { RigFile, RigFileInput } from "../runner/scenario/rig-file.ts";
import { formatBytes } from "../runner/units.ts";
import type { Broker, BrokerRequest } from "./rig.ts";

/** Parts of a scenario that a broker must have from its start, by the scenario's key. Parts that mqbench decides are missing. */
export type Asked = NonNullable<RigFile["brokers"][number]["asked"]>;
type Json = Asked[string];

/** A request's settings for the broker that is started for it. */
export function askedOf({ system, cpus }: Pick<BrokerRequest, "system" | "cpus">): Asked {
	const options = system.options as unknown as Readonly<Record<string, Json | undefined>>;
	const all: Readonly<Record<string, Json | undefined>> = {
		...Object.fromEntries(OPTIONS.map((key) => [key, options[key]])),
		binary: system.binary ?? undefined,
		pin: cpus ?? undefined,
		...(system.options.config
			? { config: hideSecrets(system.options.config, system.options.secrets) }
			: {}),
	};
	// In the form in which the file returns it.
	return JSON.parse(JSON.stringify(all));
}

/** rig.json's entry for a broker that this machine has brought up. */
export function entryOf(
	request: BrokerRequest,
	{ url, version, settings, topology, nodesShareHost, sameHost }: Broker,
): RigFileInput["brokers"][number] {
	const { system, level, messageBytes } = request;
	return {
		system: system.key,
		broker: system.broker as RigFile["brokers"][number]["broker"],
		url,
		server: version,
		level,
		messageBytes,
		settings: { ...settings },
		topology,
		nodesShareHost,
		sameHost,
		asked: askedOf(request),
	};
}

/** "cpus 0.5 (the rig: 2)" for each difference; values that may hold a secret are left out. */
export function differences(rig: Asked, run: Asked): string[] {
	return [...OPTIONS, "binary", "pin"]
		.filter((key) => !isDeepStrictEqual(rig[key], run[key]))
		.map((key) =>
			key === "config"
				? "config"
				: `${key} ${shown(key, run[key])} (the rig: ${shown(key, rig[key])})`,
		);
}

// --- internal ---

/** Keys of a system that affect the broker's start. The others belong to topics and driver. */
const OPTIONS = ["nodes", "version", "heap", "config"];

function shown(key: string, value: Json | undefined): string {
	if (value === undefined) return "not given";
	return typeof value === "number" && key === "heap" ? formatBytes(value) : String(value);
}
