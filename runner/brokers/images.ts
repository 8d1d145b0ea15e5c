import { type BrokerName, commonOptions, type SystemOptions } from "./index.ts";

/**
 * The official image of each broker: the version that a scenario gets when it names none, and what stands around it in the tag.
 * Versions are pinned: a run of next year measures the same server, unless the scenario says otherwise.
 */
export const IMAGES: Readonly<
	Record<
		Exclude<BrokerName, "noop">,
		{
			readonly name: string;
			readonly version: string;
			readonly suffix: string;
		}
	>
> = {
	// As natsd, of extensions/go.mod.
	nats: { name: "nats", version: "2.15.2", suffix: "-alpine" },
	// As kafka/pom.xml.
	kafka: { name: "apache/kafka", version: "4.1.1", suffix: "" },
	redis: { name: "redis", version: "8.2.3", suffix: "-alpine" },
	rabbitmq: { name: "rabbitmq", version: "4.2.1", suffix: "-alpine" },
};

/** The image of a system: its own, or the official one of its version. */
export function imageOf(system: {
	readonly image: string | null;
	readonly broker: BrokerName;
	readonly options: SystemOptions;
}): string {
	if (system.image !== null) return system.image;
	if (system.broker === "noop") throw new Error("noop has no image");
	const { name, version, suffix } = IMAGES[system.broker];
	return `${name}:${commonOptions(system.options).version ?? version}${suffix}`;
}
