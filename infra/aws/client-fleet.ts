import type * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { machine, type Surroundings } from "./machine.ts";
import { userData } from "./user-data.ts";

/** The machines that make the load, one for each client. */
export class ClientFleet extends pulumi.ComponentResource {
	readonly machines: readonly aws.ec2.Instance[];

	constructor(name: string, surroundings: Surroundings, options: pulumi.ComponentResourceOptions) {
		super("mqbench:rig:ClientFleet", name, {}, options);
		const { config } = surroundings;
		const { instance, count, spot } = config.clients;
		const script = userData({
			ttlMinutes: config.ttlMinutes,
			role: "client",
			// Everything that makes load is copied over SSH.
			packages: [],
			user: config.user,
			volume: false,
		});
		this.machines = Array.from({ length: count }, (_, i) =>
			machine(
				`${name}-${i + 1}`,
				{ instance, userData: script, volume: null, spot },
				surroundings,
				this,
			),
		);
		this.registerOutputs({ machines: this.machines.map(({ id }) => id) });
	}
}
