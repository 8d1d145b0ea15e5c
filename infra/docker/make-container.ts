import { commonOptions } from "../../runner/brokers/index.ts";
import type {
	NodeAddress,
	NodeContainer,
} from "../../runner/brokers/process.ts";
import type { BrokerRequest } from "../rig.ts";
import { DockerError } from "./cli.ts";
import { createArguments } from "./container.ts";
import { LABELS, labelArguments } from "./labels.ts";
import type { RigInDocker } from "./rig-in-docker.ts";
import { tar } from "./tar.ts";

export function volumeOf(container: string): string {
	return `${container}-data`;
}

/** Makes the container of a node with its volume and files, and starts nothing. */
export async function makeContainer(
	{ docker, network, labels }: RigInDocker,
	{ system, cpus }: BrokerRequest,
	node: NodeContainer,
	what: {
		readonly name: string;
		/** Of the image. */
		readonly image: string;
		readonly address: NodeAddress;
		readonly ports: readonly number[];
	},
): Promise<void> {
	const { name, image, address, ports } = what;
	const options = commonOptions(system.options);
	const volume = node.data?.kind === "volume" ? volumeOf(name) : null;
	let discarded: string | null = null;
	if (volume !== null)
		await docker.run(["volume", "create", ...labelArguments(labels), volume]);
	await docker.run(
		createArguments({
			name,
			image,
			labels: { ...labels, [LABELS.address]: address.ip },
			network: network.name,
			ip: address.ip,
			hostname: address.hostname,
			args: node.args,
			entrypoint: node.entrypoint,
			env: node.env ?? {},
			data: node.data && { path: node.data.path, volume },
			published: network.direct
				? []
				: ports.map((to, i) => ({
						to,
						port: Number(address.reached[i]?.split(":")[1]),
					})),
			cpus: options.cpus ?? null,
			memoryBytes: options.memory ?? null,
			cpuset: cpus,
			init: node.init ?? false,
		}),
		{
			onLine(line) {
				// It makes the container all the same, without a limit that the report would tell of.
				if (/discarded/i.test(line))
					discarded ??= line.replace(/^WARNING: /, "").replace(/\.$/, "");
			},
		},
	);
	if (discarded !== null) throw new DockerError(discarded);
	await docker.run(["cp", "-", `${name}:/`], {
		input: tar(
			Object.entries(node.files).map(([file, text]) => ({
				name: file.slice(1),
				mode: 0o444,
				from: { text },
			})),
		),
	});
}
