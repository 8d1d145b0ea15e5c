import { readFileSync } from "node:fs";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { failure } from "../../runner/errors.ts";
import { once } from "../../runner/once.ts";
import { reasonOf } from "../../runner/reason.ts";
import type { Kubernetes } from "../../runner/scenario/scenario.ts";
import { tell } from "../../runner/text/tell.ts";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";
import type { Link } from "../remote/link.ts";
import type { Rig } from "../rig.ts";
import { clusterOf } from "./cluster.ts";
import { LABELS, OURS } from "./job.ts";
import { explainKubectl, findKubectl, type Kubectl, KubectlError } from "./kubectl.ts";

/** An object of a manifest, as far as mqbench reads it. */
export type Manifest = z.infer<typeof Manifest>;

/** Reads manifests; several documents a file. Fails with a sentence, and asks no cluster. */
export function readManifests(files: readonly string[]): Manifest[] {
	return files.flatMap((file) => {
		let text: string;
		try {
			text = readFileSync(file, "utf8");
		} catch (error) {
			throw wrong(file, reasonOf(error));
		}
		return parseAllDocuments(text).flatMap((document) => {
			const [error] = document.errors;
			if (error) throw wrong(file, error.message.split("\n")[0] ?? "");
			const value: unknown = document.toJS();
			if (value === null) return [];
			const parsed = Manifest.safeParse(value);
			if (!parsed.success) throw wrong(file, tell("manifest-no-object"));
			return [parsed.data];
		});
	});
}

/**
 * Somebody's own brokers, made from manifests for one command: created before the first run and removed after the last. They may run anything, so
 * whoever calls this has asked. All belong to a Job that ends when mqbench is gone, so that the cluster removes them then.
 */
export function withManifests(
	rig: Rig,
	settings: Kubernetes,
	world: World,
	binaries: Pick<Binaries, "agent">,
): Rig {
	const say = (line: string) => void world.stderr.write(`${line}\n`);
	const kubectl = findKubectl(world, settings);
	const cluster = clusterOf(settings, world, say);
	let link: Link | null = null;
	/** Kinds that have been created, and the label of those that are ours. */
	let made: { readonly kinds: string; readonly label: string } | null = null;
	const make = once(async () => {
		const objects = readManifests(settings.manifests);
		try {
			await checkNamespaced(objects, kubectl, world.stop);
			const [holder] = await cluster.start({
				count: 1,
				role: "broker",
				image: settings.image,
				volumes: [],
				cpus: 0.05,
				memory: 32 * 1024 ** 2,
			});
			if (!holder) throw new Error("a Job without a pod");
			link = await holder.connect({ agent: binaries.agent, world, say }, world.stop, true);
			const job = Owner.parse(await kubectl.json(["get", "job", holder.job]));
			const owned = objects.map((one) => ownedBy(one, job));
			made = {
				kinds: [...new Set(objects.map(kindOf))].join(","),
				label: `${OURS},${LABELS.run}=${job.metadata.labels[LABELS.run]}`,
			};
			say(tell("manifests-created", { objects: objects.map(nameOf) }));
			await kubectl.run(["create", "--filename", "-"], {
				input: JSON.stringify({ ...LIST, items: owned }),
				stop: world.stop,
			});
			for (const [object, condition] of Object.entries(settings.ready)) {
				say(tell("manifests-awaited", { object, condition }));
				await kubectl.run(["wait", object, `--for=${condition}`, `--timeout=${READY_S}s`], {
					stop: world.stop,
					limitMs: (READY_S + 10) * 1000,
				});
			}
		} catch (error) {
			throw explainKubectl(error, tell("doing-manifests"));
		}
	});
	return {
		...rig,
		async open(request) {
			await make();
			return rig.open(request);
		},
		async teardown() {
			await rig.teardown();
			if (made !== null)
				await kubectl
					.run(
						// By our label alone: an object of that name that was there before is somebody else's.
						["delete", made.kinds, "--selector", made.label, "--wait", "--timeout=120s"],
						{ limitMs: 130_000 },
					)
					.catch((error) =>
						// They go with their owner.
						say(tell("manifests-stay", { why: reasonOf(error) })),
					);
			made = null;
			await link?.close();
			await cluster.close();
		},
	};
}

// --- internal ---

/** How long somebody's brokers may take to be ready. */
const READY_S = 600;

const Manifest = z.looseObject({
	apiVersion: z.string(),
	kind: z.string(),
	metadata: z.looseObject({
		name: z.string(),
		labels: z.record(z.string(), z.string()).optional(),
		annotations: z.record(z.string(), z.string()).optional(),
	}),
});

const Owner = z.object({
	metadata: z.object({
		name: z.string(),
		uid: z.string(),
		labels: z.record(z.string(), z.string()).default({}),
		annotations: z.record(z.string(), z.string()).default({}),
	}),
});

const LIST = { apiVersion: "v1", kind: "List" } as const;

/** As kubectl takes a kind whose short name another group may have, too: "StatefulSet.v1.apps". */
function kindOf({ apiVersion, kind }: Manifest): string {
	const [version, group] = apiVersion.split("/").toReversed();
	return group === undefined ? kind : `${kind}.${version}.${group}`;
}

function nameOf({ kind, metadata }: Manifest): string {
	return `${kind.toLowerCase()}/${metadata.name}`;
}

function wrong(file: string, reason: string) {
	return failure("kubernetes-failed", { doing: `read ${path.basename(file)}`, reason });
}

/** A namespaced Job cannot own what is in no namespace or in another one: nobody would remove it. */
async function checkNamespaced(
	objects: readonly Manifest[],
	kubectl: Kubectl,
	stop: AbortSignal,
): Promise<void> {
	const places = new Set<string>();
	for (const object of objects) {
		const { metadata } = Placed.parse(
			await kubectl.json(["create", "--dry-run=server", "--filename", "-"], {
				input: JSON.stringify(object),
				stop,
			}),
		);
		if (metadata.namespace === undefined)
			throw new KubectlError(tell("manifest-without-namespace", { object: nameOf(object) }));
		places.add(metadata.namespace);
	}
	if (places.size > 1) throw new KubectlError(tell("manifests-apart", { namespaces: [...places] }));
}

const Placed = z.object({ metadata: z.object({ namespace: z.string().optional() }) });

function ownedBy(object: Manifest, { metadata: owner }: z.infer<typeof Owner>): Manifest {
	const { labels, annotations } = object.metadata;
	return {
		...object,
		metadata: {
			...object.metadata,
			labels: {
				...labels,
				[LABELS.managedBy]: "mqbench",
				[LABELS.run]: owner.labels[LABELS.run] ?? "",
			},
			annotations: { ...annotations, [LABELS.expires]: owner.annotations[LABELS.expires] ?? "" },
			ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: owner.name, uid: owner.uid }],
		},
	};
}
