import { randomBytes } from "node:crypto";
import type { Described, ImageFacts } from "../../runner/brokers/process.ts";
import { agentArguments, type Limits, mountText } from "../docker/container.ts";
import { writeThere } from "../machines/files.ts";
import { unwritable } from "../machines/trouble.ts";
import type { Place } from "../nodes/place.ts";
import type { HostEngine } from "./engine.ts";
import { brokerSamples, nodeStarter, type PlaceOptions } from "./place.ts";

/** The paths of `site` are those within the container. */
export interface ContainerPlaceOptions extends PlaceOptions {
	readonly engine: HostEngine;
	readonly image: ImageFacts;
	readonly data: Described["data"];
	readonly limits: Limits;
}

/**
 * A container of a host, on the host's own network, with its data in the host's store. Agent is the container's first process and starts
 * the image's entry point: mqbench controls it over the connection, as on the host itself, and it ends the container when the connection is
 * gone, even if the docker command there is. It runs as the connection's user, who owns its files and may signal it.
 */
export function hostContainerPlace({
	site,
	engine: { docker, user },
	image,
	number,
	data,
	limits,
	stopMs,
	fetchSamples,
}: ContainerPlaceOptions): Place {
	const { host, folder, data: dataInside } = site;
	const { link, remote } = host;
	const { control, store } = site.folders;
	const name = `mqbench-${randomBytes(6).toString("hex")}`;
	const pidFile = `${control}/agent-${number}`;
	const samples = `${control}/${brokerSamples(number)}`;
	let files: readonly string[] = [];
	const { start, close } = nodeStarter({ site, number, cpus: null, stopMs });
	const spec = { ...limits, name, labels: {}, network: "host", image: image.id };
	const words = () => {
		const mounts = [
			bind(host.agent, AGENT, "readonly"),
			bind(samples, SAMPLES),
			...(data === "disk" ? [bind(`${store}/data`, dataInside)] : []),
			...(data === "memory" ? [mountText("type=tmpfs", `target=${dataInside}`)] : []),
			...files.map((file) => bind(`${store}/files/${file}`, `${folder}/${file}`, "readonly")),
		];
		return ["docker", ...agentArguments(AGENT, spec, user, mounts)];
	};
	return {
		host: host.name,
		signals: true,
		async prepare(node) {
			files = Object.keys(node.files);
			const made = await link.run(PREPARE, [store, samples, control, name]);
			if (made.code !== 0) throw unwritable(remote, store, made.err, "store");
			// Only the user can open their folder; the image's user may be another one.
			await writeThere(remote, link, `${store}/files`, node.files, 0o444);
		},
		async start({ argv, env = {} }, take) {
			const inside = { agent: words(), samples: SAMPLES };
			const child = start({ argv, env }, take, "node", inside);
			// Once it is located, signals go to the processes below the agent inside.
			let located = false;
			return {
				...child,
				async signal(signal) {
					if (!located) located = (await link.run(LOCATE, [name, pidFile])).code === 0;
					return child.signal(signal);
				},
			};
		},
		async close() {
			await close();
			// The engine may be removing it already; the next mqbench removes the rest.
			if (link.alive()) await docker.run(["rm", "--force", "--volumes", name]).catch(() => {});
			await fetchSamples();
		},
	};
}

// --- internal ---

/** Within the container. */
const AGENT = "/mqbench/agent";
const SAMPLES = "/mqbench/samples.jsonl";

/** $1 store, $2 file for samples, $3 control folder, $4 the container's name, for a later sweep. */
const PREPARE =
	'umask 077; mkdir -p "$1/data" "$1/files" && : >>"$2" && echo "$4" >"$3/container-$4"';

/** $1 container, $2 file for the pid of its first process, in the host's numbering. */
const LOCATE =
	'p=$(timeout 60 docker inspect --format "{{.State.Pid}}" "$1") && [ "$p" -gt 0 ] && echo "$p" >"$2"';

function bind(source: string, target: string, ...more: string[]): string {
	return mountText("type=bind", `source=${source}`, `target=${target}`, ...more);
}
