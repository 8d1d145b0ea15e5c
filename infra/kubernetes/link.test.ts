import { existsSync, rmSync, statSync, utimesSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { LOST } from "../machines/link.ts";
import { realBinaries, realWorld } from "../programs/real.fake.ts";
import { fakeKubectl } from "./kubectl.fake.ts";
import { findKubectl } from "./kubectl.ts";
import { openPodLink } from "./link.ts";

const { agent } = await realBinaries();
const RUNNING =
	'"get pod p1 --output json") [ -e "$(dirname "$0")/pods/p1" ] && echo \'{"metadata":{"name":"p1"},"status":{"phase":"Running"}}\' || { echo \'Error from server (NotFound): pods "p1" not found\' >&2; exit 1; };;';

async function linked(memory: number | null = null) {
	const world = fakeKubectl(RUNNING, ["p1"]);
	const kubectl = findKubectl(world, { context: "c", namespace: "n" });
	const pod = { kubectl, pod: "p1", memory, name: "pod 1 on node-a" };
	const link = await openPodLink(pod, { agent, cwd: realWorld.cwd }, new AbortController().signal);
	onTestFinished(() => link.close());
	return { link, folder: world.folderOf("p1") };
}

test("a command has its arguments, its home, its own exit code, and its own words", async () => {
	const { link, folder } = await linked();
	expect(
		await link.run(
			'echo; echo "mqbench:home=$HOME"; echo "mqbench:arg=$1"; printf "own words" >&2; exit 7',
			["a 'b' $c"],
		),
	).toMatchObject({ code: 7, values: { home: folder, arg: "a 'b' $c" }, err: "own words" });
	expect((await link.run("kill -9 $$")).code).toBe(137);
	// What it reads is what it is fed, to the end.
	const fed = await link.run('echo; echo "mqbench:sum=$(wc -c | tr -d " ")"', [], {
		feed: (stdin) => void stdin.end("x".repeat(100_000)),
	});
	expect(fed.values.sum).toBe("100000");
});

test("the pod hears of mqbench as long as the connection stands, and no longer", async () => {
	vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
	onTestFinished(() => void vi.useRealTimers());
	const { link, folder } = await linked();
	const alive = path.join(folder, "alive");
	expect(existsSync(alive)).toBe(false);
	vi.advanceTimersByTime(20_000);
	await vi.waitFor(() => expect(existsSync(alive)).toBe(true));
	utimesSync(alive, 1, 1);
	vi.advanceTimersByTime(20_000);
	await vi.waitFor(() => expect(statSync(alive).mtimeMs).toBeGreaterThan(1e12));
	await link.close();
	expect(link.alive()).toBe(false);
});

test("a pod that is gone is a lost connection, and the cluster says why", async () => {
	const { link, folder } = await linked();
	const child = link.spawn("cat");
	rmSync(folder, { recursive: true });
	const gone = link.spawn("true");
	gone.stdin.end();
	gone.stdout.resume();
	gone.stderr.resume();
	expect(await gone.code).toBe(LOST);
	await expect(link.run("true")).rejects.toThrow(
		"pod 1 on node-a: it was deleted. `kubectl get events` shows what happened in the cluster",
	);
	expect(link.alive()).toBe(false);
	child.kill("SIGKILL");
});

test("a command that was killed is nobody's fault that the cluster knows of", async () => {
	const { link } = await linked();
	expect(await link.fate?.()).toBeNull();
});
