import {
	type BrokerProcess,
	type Described,
	type NodeDescription,
	reachedPorts,
} from "../../runner/brokers/process.ts";
import type { BrokerRequest } from "../rig.ts";
import { DockerError } from "./cli.ts";
import { commandOf, createArguments } from "./container.ts";
import { labelArguments } from "./labels.ts";
import type { RigInDocker } from "./rig-in-docker.ts";
import type { ContainerSite } from "./sites.ts";
import { tar } from "./tar.ts";

export function volumeOf(container: string): string {
	return `${container}-data`;
}

/** Makes a node's container with its volume and files; does not start it. */
export async function makeContainer(
	{ docker, network, labels }: RigInDocker,
	{ system, cpus }: BrokerRequest,
	kind: BrokerProcess,
	node: NodeDescription,
	what: {
		readonly name: string;
		/** Of the image. */
		readonly image: string;
		readonly site: ContainerSite;
		readonly data: Described["data"];
	},
): Promise<void> {
	const { name, image, site, data } = what;
	const options = system.options;
	const volume = data === "disk" ? volumeOf(name) : null;
	let discarded: string | null = null;
	if (volume !== null) await docker.run(["volume", "create", ...labelArguments(labels), volume]);
	await docker.run(
		createArguments({
			name,
			image,
			...commandOf(node),
			labels: labels,
			network: network.name,
			ip: site.ip,
			hostname: site.hostname,
			env: node.env ?? {},
			data: data && { path: site.data, volume },
			published: network.direct
				? []
				: reachedPorts(kind).map((to, i) => ({ to, port: Number(site.reached[i]?.split(":")[1]) })),
			cpus: options.cpus ?? null,
			memoryBytes: options.memory ?? null,
			cpuset: cpus,
			init: kind.container.init ?? false,
		}),
		{
			onLine(line) {
				// It makes the container anyway, without the limit that the report would show.
				if (/discarded/i.test(line))
					discarded ??= line.replace(/^WARNING: /, "").replace(/\.$/, "");
			},
		},
	);
	if (discarded !== null) throw new DockerError(discarded);
	await docker.run(["cp", "-", `${name}:/`], {
		input: tar(
			Object.entries(node.files).map(([file, text]) => ({
				name: `${site.folder}/${file}`.slice(1),
				mode: 0o444,
				from: { text },
			})),
		),
	});
}
