import type * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { machine, type Surroundings } from "./machine.ts";
import { userData } from "./user-data.ts";

/** The brokers' machines. All systems take turns on them, so that they have the same hardware. */
export class BrokerFleet extends pulumi.ComponentResource {
	readonly machines: readonly aws.ec2.Instance[];

	constructor(name: string, surroundings: Surroundings, options: pulumi.ComponentResourceOptions) {
		super("mqbench:rig:BrokerFleet", name, {}, options);
		const { config } = surroundings;
		const { instance, count, volume } = config.brokers;
		const script = userData({
			ttlMinutes: config.ttlMinutes,
			role: "broker",
			packages: config.packages,
			user: config.user,
			volume: volume !== null,
		});
		this.machines = Array.from({ length: count }, (_, i) =>
			machine(
				`${name}-${i + 1}`,
				// Never spot: losing one machine would void all measurements.
				{ instance, userData: script, volume, spot: false },
				surroundings,
				this,
			),
		);
		this.registerOutputs({ machines: this.machines.map(({ id }) => id) });
	}
}
