import { spawnSync } from "node:child_process";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { script, testFolder } from "../test-folder.fake.ts";
import { cannotDelay, delayCommand, devicesIn, netem } from "./latency.ts";

/** A PATH with these programs on it, which are pieces of sh. */
function programs(all: Readonly<Record<string, string>>) {
	const folder = testFolder();
	for (const [name, body] of Object.entries(all)) script(path.join(folder, name), body);
	return { PATH: folder };
}
const UTILS = { unshare: "exit 0", nsenter: "exit 0" };

describe("what delays packets", () => {
	test("goes into the network of the process and nothing else of it", () => {
		const env = programs({ tc: "exit 0" });
		expect([...delayCommand(4711, env), ...netem("eth0", 50e6)].join(" ")).toBe(
			`--target=4711 --net -- ${env.PATH}/tc qdisc add dev eth0 root netem delay 50000us limit 1000000`,
		);
	});

	test("is microseconds, and at least one", () => {
		expect(netem("eth0", 1_500_000)).toContain("1500us");
		expect(netem("eth0", 1)).toContain("1us");
	});

	test("reaches every device but the loopback", () => {
		expect(
			devicesIn(
				`Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes
    lo:       0       0    0
  eth1: 5573      12    0
eth0@if7:     1       2    0
`,
			),
		).toEqual(["eth1", "eth0@if7"]);
	});
});

describe("why packets cannot be delayed here is the end of a sentence", () => {
	test.each([
		["without util-linux", {}, 0, /nsenter and unshare .*util-linux/],
		["without tc", UTILS, 0, /needs tc on PATH .*iproute2/],
		["without root", { ...UTILS, tc: "exit 0" }, 1000, /needs root/],
		[
			"without netem in the kernel",
			{
				nsenter: "exit 0",
				unshare: 'echo "Error: Specified qdisc kind is unknown." >&2; echo "more" >&2; exit 2',
				tc: "exit 0",
			},
			0,
			/^this kernel has no netem, which delays packets \(Specified qdisc kind is unknown; modprobe sch_netem may load it\)$/,
		],
	])("%s", async (_, all: Readonly<Record<string, string>>, user, words) => {
		const env = programs(all);
		const find = (name: string) => (name in all ? path.join(env.PATH, name) : null);
		expect(await cannotDelay(env, user, find)).toMatch(words);
	});

	const tried = spawnSync("unshare", ["--net", "tc", ...netem("lo", 1_000_000)]);
	test.runIf(tried.error === undefined)("on this very machine it is what trying says", async () => {
		const said = await cannotDelay(process.env);
		expect(said === null).toBe(tried.status === 0);
	});
});
