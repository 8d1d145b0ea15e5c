import { isDeepStrictEqual } from "node:util";
import type { RigFile, RigFileInput } from "../runner/scenario/rig-file.ts";
import { formatBytes } from "../runner/units.ts";
import type { Broker, BrokerRequest } from "./rig.ts";

/** What a scenario says of a broker that has to be so from its start, by key of the scenario; what it leaves to mqbench is not there. */
export type Asked = NonNullable<RigFile["brokers"][number]["asked"]>;
type Json = Asked[string];

/** What a request asks of the broker that is started for it. */
export function askedOf({
	system,
	cpus,
}: Pick<BrokerRequest, "system" | "cpus">): Asked {
	const options = system.options as unknown as Readonly<
		Record<string, Json | undefined>
	>;
	const all: Readonly<Record<string, Json | undefined>> = {
		...Object.fromEntries(OPTIONS.map((key) => [key, options[key]])),
		image: system.image ?? undefined,
		binary: system.binary ?? undefined,
		pin: cpus ?? undefined,
	};
	// As it comes back from the file.
	return JSON.parse(JSON.stringify(all));
}

/** What stands in rig.json of a broker that this machine has brought up. */
export function entryOf(
	request: BrokerRequest,
	{ url, version, settings, topology, sameHost }: Broker,
): RigFileInput["brokers"][number] {
	const { system, level, messageBytes } = request;
	return {
		system: system.key,
		broker: system.broker as RigFile["brokers"][number]["broker"],
		...{ url, server: version, level, messageBytes },
		...{ settings: { ...settings }, topology, sameHost },
		asked: askedOf(request),
	};
}

/** "cpus 0.5 (the rig: 2)", for each that is not the same; what may hold a secret is only named. */
export function differences(rig: Asked, run: Asked): string[] {
	return [...OPTIONS, "image", "binary", "pin"]
		.filter((key) => !isDeepStrictEqual(rig[key], run[key]))
		.map((key) =>
			key === "config"
				? "config"
				: `${key} ${shown(key, run[key])} (the rig: ${shown(key, rig[key])})`,
		);
}

// --- internal ---

/** Of a system: what the broker is started with. The others are the topics' and the driver's. */
const OPTIONS = ["nodes", "version", "cpus", "memory", "heap", "config"];

function shown(key: string, value: Json | undefined): string {
	if (value === undefined) return "not given";
	return typeof value === "number" && (key === "memory" || key === "heap")
		? formatBytes(value)
		: String(value);
}
