import type { Cloud } from "../../../runner/scenario/rig-file.ts";
import type { World } from "../../../runner/world.ts";
import { openApi, Refused } from "./api.ts";

/** What a machine has written to its console, at most 64 KB; "": nothing yet. Throws a `Refused`. */
export async function consoleOf(
	host: string,
	{ id, ...where }: Pick<Cloud, "region" | "profile"> & { readonly id: string },
	world: Pick<World, "env" | "stop">,
): Promise<string> {
	const { ec2 } = await openApi(where, world);
	const { Reservations = [] } = await ec2.describeInstances({
		Filters: [
			{ Name: "tag:mqbench:run", Values: [id] },
			{ Name: "ip-address", Values: [host] },
		],
	});
	const machine = Reservations.flatMap(({ Instances = [] }) => Instances)[0];
	if (machine?.InstanceId === undefined)
		throw new Refused("ec2:DescribeInstances", "NotFound", `no ${host}`);
	const of = { InstanceId: machine.InstanceId };
	const { Output } = await ec2.getConsoleOutput({ ...of, Latest: true }).catch((error: Refused) => {
		// Only types on Nitro give what was written last; the others what they wrote when they started.
		if (error.forbidden || error.unreached) throw error;
		return ec2.getConsoleOutput(of);
	});
	return Buffer.from(Output ?? "", "base64").toString("utf8");
}
