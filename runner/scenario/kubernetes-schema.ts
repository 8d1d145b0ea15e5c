import { z } from "zod";
import { bytes, described, number, ttl, word } from "../model/field.ts";
import { tell } from "../text/tell.ts";
import { completed } from "./place.ts";

/** A DNS label (RFC 1123). */
const Dns = z
	.string()
	.max(63)
	.regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, tell("dns-label"));

export const KubernetesFile = z
	.strictObject({
		context: word("kubectl context. Default: the current one.", ["kind-bench"]).optional(),
		namespace: Dns.optional().meta({
			description: "Namespace, which must exist. Default: the context's, else `default`.",
			examples: ["bench"],
		}),
		image: word(
			"Image of the load generators' pods: any with `sh`, `sha256sum` and `tar`. mqbench copies its programs into them.",
			["registry.example.com/busybox:1.37.0"],
		).default("busybox:1.37.0"),
		imagePullSecret: described(Dns.optional(), "Secret for pulling images.", ["registry-login"]),
		resources: described(
			z.strictObject({
				cpus: number("Cores.", [2], { least: 0.1, most: 1024 }).default(2),
				memory: bytes("Memory.", ["2GiB"], 128 * 1024 ** 2).prefault("2GiB"),
			}),
			"Requests and limits of each load generator's pod. A broker has the `cpus` and `memory` of its system.",
			[{ cpus: 2, memory: "2GiB" }],
		).prefault({}),
		nodeSelector: described(
			z.record(z.string().min(1), z.string()).default({}),
			"Labels of the nodes for all pods.",
			[{ pool: "bench" }],
		),
		tolerations: described(
			z.array(z.record(z.string(), z.string())).default([]),
			"Tolerations of all pods, in Kubernetes' form: `key`, `operator`, `value`, `effect`.",
			[[{ key: "dedicated", value: "bench" }]],
		),
		storageClass: word(
			"Storage class of the brokers' volumes. Default: the node's disk (`emptyDir`).",
			["fast-ssd"],
		).optional(),
		storage: bytes("Size of such a volume.", ["20GiB"], 16 * 1024 ** 2).prefault("20GiB"),
		ttl: ttl("the cluster ends the pods", "1min"),
	})
	.transform(({ ttl: ttlNs, ...rest }) => ({
		// A null `context` or `namespace` leaves the choice to kubectl.
		...completed(["context", "namespace", "imagePullSecret", "storageClass"], rest),
		ttlNs,
	}));
export type Kubernetes = z.output<typeof KubernetesFile>;
