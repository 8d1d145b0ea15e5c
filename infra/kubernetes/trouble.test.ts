import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { howItEnded, Pod, whyNotUp } from "./trouble.ts";

/** As the API server of Kubernetes 1.34.1 has reported them. */
const recorded: Readonly<Record<string, unknown>> = JSON.parse(
	readFileSync(new URL("pods.recorded.json", import.meta.url), "utf8"),
);
const pod = (name: string) => Pod.parse(recorded[name]);

test.each([
	[
		"oom",
		16 * 2 ** 20,
		"it was ended because it used more than its 16MiB of memory (OOMKilled); give it more",
	],
	["oom", null, "it was ended because its memory was used up (OOMKilled); give it memory"],
	["evicted", null, /^its node has evicted it \(.*ephemeral/],
	["deadline", null, "its time (ttl) was over; write a longer ttl under kubernetes"],
	["ended", null, "it has ended with exit code 3 (Error)"],
])("a pod that is gone says why: %s", (name, memory, sentence) => {
	const said = howItEnded(pod(name), memory);
	if (typeof sentence === "string") expect(said).toBe(sentence);
	else expect(said).toMatch(sentence);
});

test.each(["running", "noimage", "unschedulable"])("a pod that has not ended: %s", (name) => {
	expect(howItEnded(pod(name), null)).toBeNull();
});

test("a pod that is being deleted counts as gone", () => {
	const going = pod("running");
	going.metadata.deletionTimestamp = "2026-11-26T14:00:00Z";
	expect(howItEnded(going, null)).toBe("it was deleted");
});

test("an image that cannot be pulled is given up at once, room is waited for", () => {
	expect(whyNotUp(pod("noimage"), false)).toMatch(/^its image cannot be pulled \(.*nosuch:1/);
	expect(whyNotUp(pod("unschedulable"), false)).toBeNull();
	expect(whyNotUp(pod("unschedulable"), true)).toMatch(
		/^no node has room for it \(0\/1 nodes are available: 1 Insufficient cpu.*\); ask for less/,
	);
	expect(whyNotUp(pod("running"), false)).toBeNull();
});
