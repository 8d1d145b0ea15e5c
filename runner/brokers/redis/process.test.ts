import { statSync } from "node:fs";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { findOnPath } from "../../../infra/local/program.ts";
import { addresses } from "../addresses.ts";
import { describedThere, started } from "../started.fake.ts";

const have = (program: string) => findOnPath(program, process.env) !== null;
const mustHave = (program: string) => process.env.CI === "true" || have(program);
const PORTS = { redis: 6379, unix: 0 };

/** The answer to a command of one node. */
async function ask(url: string, node: number, command: string): Promise<string> {
	const { host, port, path } = addresses(url, PORTS)[node] ?? { host: "", port: 0 };
	const socket = path === undefined ? connect(port, host) : connect(path);
	onTestFinished(() => void socket.destroy());
	const { password } = new URL(url.split(",")[0] ?? "");
	socket.write(`AUTH ${password}\r\n${command}\r\nPING end\r\n`);
	let text = "";
	for await (const piece of socket) {
		text += piece;
		if (text.endsWith("end\r\n")) break;
	}
	return text;
}

test.skipIf(!mustHave("redis-server"))("a server with a Unix socket has a URL of it", async () => {
	const broker = await started("redis", { socket: true });
	expect(broker.url).toMatch(/^unix:\/\/:\w+@localhost\/\S+\/redis\.sock$/);
	expect(statSync(addresses(broker.url, PORTS)[0]?.path ?? "").isSocket()).toBe(true);
	expect(await ask(broker.url, 0, "INFO server")).toContain("redis_mode:standalone");
});

// Debian 12 has no valkey-server.
test.each([...["redis-server"].filter(mustHave), ...["valkey-server"].filter(have)])(
	"a cluster of three %s works at once, with a third of the slots on each node, and after a kill",
	{ timeout: 60_000 },
	async (binary) => {
		const broker = await started("redis", { binary, nodes: 3 });
		expect(broker.version).toMatch(new RegExp(`^${binary} \\d`));
		expect(addresses(broker.url, PORTS)).toHaveLength(3);
		expect(broker.pids).toHaveLength(3);
		const works = async () => {
			for (const node of [0, 1, 2]) {
				const info = await ask(broker.url, node, "CLUSTER INFO");
				expect(info).toMatch(/cluster_state:ok.*cluster_slots_ok:16384.*cluster_size:3/s);
			}
		};
		await works();
		const slots = await ask(broker.url, 0, "CLUSTER NODES");
		expect(
			slots
				.match(/\d+-\d+\r?$/gm)
				?.map((one) => one.trim())
				.sort(),
		).toEqual(["0-5460", "10923-16383", "5461-10922"]);
		const back = await broker.disturb({ action: "kill", node: 2, delayNs: null });
		await back();
		await works();
	},
);

test("in containers a node copies its view of the cluster to where it may write", async () => {
	const { nodes, file, url } = await describedThere(
		{ broker: "redis", nodes: 3 },
		{
			setup: { image: { name: "", digest: null, id: "", env: {}, entrypoint: ["/entry"] } },
			site: { folder: "/etc/mqbench", data: "/data" },
		},
	);
	expect(url().split(",")).toHaveLength(3);
	expect(nodes[1]?.argv).toEqual(["/entry", "/etc/mqbench/redis.conf"]);
	expect(nodes[1]?.before).toEqual([["cp", "/etc/mqbench/nodes.conf", "/data/nodes.conf"]]);
	expect(file("nodes.conf", 2)).toMatch(
		/^\w{40} 10\.0\.0\.1:6379@16379 master - 0 0 1 connected 0-5460\n\w{40} 10\.0\.0\.2:6379@16379 myself,master /,
	);
});
