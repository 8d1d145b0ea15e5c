import { spawn } from "node:child_process";
import { utimesSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { KubernetesFile } from "../../runner/scenario/kubernetes-schema.ts";
import type { Kubernetes } from "../../runner/scenario/scenario.ts";
import { testFolder } from "../test-folder.fake.ts";
import { jobOf, type PodsAsked, WORK } from "./job.ts";

const asked: PodsAsked = {
	name: "mqbench-1-load-1",
	count: 3,
	role: "load",
	image: "i:1",
	cpus: 0.5,
	memory: 2 ** 28,
	volumes: [],
};
const made = (parts: Partial<PodsAsked> = {}, given: Partial<Kubernetes> = {}) =>
	jobOf(
		{ ...asked, ...parts },
		{ run: "r1", owner: "o1", settings: { ...KubernetesFile.parse({}), ...given } },
	);

test("pods ask for as much as they may have, and nothing of them outlives its time", () => {
	const { metadata, spec } = made({}, { ttlNs: 90.5e9 });
	const most = { cpu: "0.5", memory: "268435456" };
	expect(spec).toMatchObject({
		completions: 3,
		parallelism: 3,
		completionMode: "Indexed",
		activeDeadlineSeconds: 91,
		backoffLimitPerIndex: 0,
	});
	expect(spec.ttlSecondsAfterFinished).toBeLessThanOrEqual(60);
	const resources = (job: typeof spec) => job.template.spec.containers[0]?.resources;
	expect(resources(spec)).toEqual({ requests: most, limits: most });
	expect(resources(made({ cpus: null, memory: null }).spec)).toEqual({ requests: {}, limits: {} });
	expect(spec.template.spec).toMatchObject({
		restartPolicy: "Never",
		automountServiceAccountToken: false,
	});
	expect(metadata.labels).toMatchObject({
		"app.kubernetes.io/managed-by": "mqbench",
		"mqbench.io/run": "r1",
	});
	expect(metadata.annotations).toEqual({ "mqbench.io/owner": "o1" });
});

test("the load needs no root and no capability, as a restricted namespace asks for; a broker's image has its own user", () => {
	const pod = made().spec.template.spec;
	expect(pod.securityContext).toMatchObject({
		runAsNonRoot: true,
		seccompProfile: { type: "RuntimeDefault" },
	});
	expect(pod.containers[0]?.securityContext).toEqual({
		allowPrivilegeEscalation: false,
		capabilities: { drop: ["ALL"] },
	});
	expect(made({ role: "broker" }).spec.template.spec.securityContext).not.toHaveProperty(
		"runAsNonRoot",
	);
});

test("pods of a run keep apart if they can, where the scenario lets them be", () => {
	const pod = made(
		{},
		{
			nodeSelector: { pool: "bench" },
			tolerations: [{ key: "dedicated", operator: "Exists" }],
			imagePullSecret: "login",
		},
	).spec.template.spec;
	expect(pod).toMatchObject({
		nodeSelector: { pool: "bench" },
		tolerations: [{ key: "dedicated", operator: "Exists" }],
		imagePullSecrets: [{ name: "login" }],
	});
	expect(JSON.stringify(pod.affinity)).toContain('"matchLabels":{"mqbench.io/run":"r1"}');
});

test("volumes are the node's disk, its memory, or of the storage class, and go with their pod", () => {
	const { volumes, containers } = made(
		{
			volumes: [
				{ path: "/disk", kind: "disk" },
				{ path: "/memory", kind: "memory" },
				{ path: "/storage", kind: "storage" },
			],
		},
		{ storageClass: "fast", storage: 2 ** 30 },
	).spec.template.spec;
	expect(containers[0]?.volumeMounts.map(({ mountPath }) => mountPath)).toEqual([
		WORK,
		"/disk",
		"/memory",
		"/storage",
	]);
	expect(volumes.slice(1)).toMatchObject([
		{ emptyDir: {} },
		{ emptyDir: { medium: "Memory" } },
		{
			ephemeral: {
				volumeClaimTemplate: {
					spec: { storageClassName: "fast", resources: { requests: { storage: "1073741824" } } },
				},
			},
		},
	]);
});

test("a pod ends by itself when mqbench has not been heard of for two minutes", async () => {
	const folder = testFolder();
	const [, , hold = ""] = made().spec.template.spec.containers[0]?.command ?? [];
	const alive = path.join(folder, "alive");
	const line = hold.replaceAll(WORK, folder).replace("sleep 5", "sleep 0.05");
	const child = spawn("/bin/sh", ["-c", line]);
	onTestFinished(() => void child.kill("SIGKILL"));
	const ended = new Promise<number | null>((resolve) => {
		child.once("close", resolve);
	});
	const early = await Promise.race([
		ended,
		new Promise((resolve) => setTimeout(() => resolve("waits"), 500)),
	]);
	expect(early).toBe("waits");
	const old = Date.now() / 1000 - 200;
	utimesSync(alive, old, old);
	expect(await ended).toBe(3);
});
