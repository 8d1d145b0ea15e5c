import type { Kubernetes } from "../../runner/scenario/scenario.ts";

/** The labels of mqbench's objects, which show their owner. */
export const LABELS = {
	managedBy: "app.kubernetes.io/managed-by",
	run: "mqbench.io/run",
	role: "mqbench.io/role",
	/** An annotation. */
	owner: "mqbench.io/owner",
} as const;

/** Pods of one role, to make as a Job. */
export interface PodsAsked {
	/** The Job's name; its pods are called `<name>-<index>-<five letters>`. */
	readonly name: string;
	readonly count: number;
	readonly role: "load" | "broker";
	readonly image: string;
	/** Requested and at most; null for the cluster's default. */
	readonly cpus: number | null;
	/** Bytes. */
	readonly memory: number | null;
	/** Folders that are volumes, by their path. */
	readonly volumes: readonly PodVolume[];
}

export interface PodVolume {
	readonly path: string;
	/** On a node's disk, in its memory, or from the scenario's storage class. */
	readonly kind: "disk" | "memory" | "storage";
}

/** mqbench's own folder in a pod. */
export const WORK = "/mqbench";

/**
 * A Job whose pods wait until mqbench has something for them, and end after LEASE_S without a sign of it. A Job, for brokers too: it is the
 * one kind of set that ends its pods at a deadline (`activeDeadlineSeconds`) and removes itself when they have ended
 * (`ttlSecondsAfterFinished`); a StatefulSet would replace a pod that was evicted, and hide the reason.
 */
export function jobOf(
	{ name, count, role, image, cpus, memory, volumes }: PodsAsked,
	{
		run,
		owner,
		settings,
	}: { readonly run: string; readonly owner: string; readonly settings: Kubernetes },
) {
	const labels = { [LABELS.managedBy]: "mqbench", [LABELS.run]: run, [LABELS.role]: role };
	const most = {
		...(cpus === null ? {} : { cpu: String(cpus) }),
		...(memory === null ? {} : { memory: String(memory) }),
	};
	const all: readonly PodVolume[] = [{ path: WORK, kind: "disk" }, ...volumes];
	return {
		apiVersion: "batch/v1",
		kind: "Job",
		metadata: {
			name,
			labels,
			annotations: { [LABELS.owner]: owner },
		},
		spec: {
			completions: count,
			parallelism: count,
			completionMode: "Indexed",
			// A pod that is gone has spoiled its run; the others must still deliver their data.
			backoffLimitPerIndex: 0,
			activeDeadlineSeconds: Math.ceil(settings.ttlNs / 1e9),
			ttlSecondsAfterFinished: 30,
			template: {
				metadata: { labels },
				spec: {
					restartPolicy: "Never",
					terminationGracePeriodSeconds: 2,
					automountServiceAccountToken: false,
					enableServiceLinks: false,
					...(settings.imagePullSecret === null
						? {}
						: { imagePullSecrets: [{ name: settings.imagePullSecret }] }),
					nodeSelector: settings.nodeSelector,
					tolerations: settings.tolerations,
					// On separate nodes if there are enough: on shared ones they would measure each other.
					affinity: {
						podAntiAffinity: {
							preferredDuringSchedulingIgnoredDuringExecution: [
								{
									weight: 100,
									podAffinityTerm: {
										labelSelector: { matchLabels: { [LABELS.run]: run } },
										topologyKey: "kubernetes.io/hostname",
									},
								},
							],
						},
					},
					securityContext: {
						seccompProfile: { type: "RuntimeDefault" },
						...(role === "load" ? PLAIN_USER : {}),
					},
					containers: [
						{
							name: CONTAINER,
							image,
							command: ["/bin/sh", "-c", HOLD],
							resources: { requests: most, limits: most },
							securityContext: {
								allowPrivilegeEscalation: false,
								...(role === "load" ? { capabilities: { drop: ["ALL"] } } : {}),
							},
							volumeMounts: all.map(({ path }, i) => ({ name: `v${i}`, mountPath: path })),
						},
					],
					volumes: all.map(({ kind }, i) => ({ name: `v${i}`, ...sourceOf(kind, settings) })),
				},
			},
		},
	};
}

export const CONTAINER = "main";

/** A file that is touched as long as mqbench is there. */
export const ALIVE = `${WORK}/alive`;

/** How often mqbench sends a sign of life; a pod waits eight times as long. */
export const ALIVE_MS = 15_000;

// --- internal ---

/** find's own unit is the minute. */
const HOLD = `trap 'exit 0' TERM INT; : >${ALIVE}; while :; do sleep 5 & wait $!; [ -n "$(find ${ALIVE} -mmin -2 2>/dev/null)" ] || exit 3; done`;

/** The requirements of a namespace that forbids root. */
const PLAIN_USER = {
	runAsNonRoot: true,
	runAsUser: 12345,
	runAsGroup: 12345,
	fsGroup: 12345,
} as const;

function sourceOf(kind: PodVolume["kind"], { storageClass, storage }: Kubernetes) {
	if (kind !== "storage") return { emptyDir: kind === "memory" ? { medium: "Memory" } : {} };
	// It belongs to its pod, and goes with it.
	return {
		ephemeral: {
			volumeClaimTemplate: {
				spec: {
					accessModes: ["ReadWriteOnce"],
					...(storageClass === null ? {} : { storageClassName: storageClass }),
					resources: { requests: { storage: String(storage) } },
				},
			},
		},
	};
}
