import { describe, expect, test } from "vitest";
import { brokerOf } from "../../runner/brokers/index.ts";
import {
	type Described,
	type NodeDescription,
	reachedPorts,
	type Tools,
} from "../../runner/brokers/process.ts";
import type { Level } from "../../runner/model/plan.ts";
import { maskUrls } from "../../runner/secrets.ts";
import { commandOf } from "./container.ts";
import { containerSite } from "./sites.ts";
import { dockerSystem } from "./systems.fake.ts";

interface Parts {
	readonly level?: Level | null;
	readonly nodes?: number;
	readonly published?: boolean;
	readonly messageBytes?: number;
	readonly image?: string;
	readonly env?: Readonly<Record<string, string>>;
}

/** What a broker's containers are to be. */
async function contain(
	written: Parameters<typeof dockerSystem>[0],
	{
		level = null,
		nodes = 1,
		published = false,
		messageBytes = 256,
		image = "image:1",
		env = {},
	}: Parts = {},
): Promise<
	Described & {
		first: NodeDescription & ReturnType<typeof commandOf>;
		/** Where its data lies. */
		path: string;
		file(name: RegExp): string;
	}
> {
	const system = dockerSystem(written);
	const kind = brokerOf(system).process;
	if (!kind) throw new Error("no broker");
	const made = await kind.describe({
		ask: null,
		where: { disk: "on a volume", memory: "tmpfs" },
		tools: {} as Tools,
		system,
		level,
		messageBytes,
		image: { name: image, digest: null, id: "sha256:1", env, entrypoint: [] },
		nodes: Array.from({ length: nodes }, (_, i) =>
			containerSite(kind, nodes, i, {
				ip: `10.0.0.${i + 1}`,
				reached: reachedPorts(kind).map((port, p) =>
					published ? `127.0.0.1:${4000 + 10 * i + p}` : `10.0.0.${i + 1}:${port}`,
				),
				published,
			}),
		),
	});
	const [node] = made.nodes;
	if (!node) throw new Error("no node");
	const first = { ...node, ...commandOf(node) };
	return {
		...made,
		first,
		path: kind.container.data,
		file(name) {
			const found = Object.entries(first.files).find(([file]) => name.test(file));
			if (!found) throw new Error(`no file ${name}`);
			return found[1];
		},
	};
}

describe("NATS in containers", () => {
	test("of core stores nothing, and is started like any image of it", async () => {
		const made = await contain({ broker: "nats" });
		expect(made.first.args).toEqual(["-c", "/etc/mqbench/nats.conf"]);
		expect(made.data).toBeNull();
		expect(made.first.entrypoint).toBeUndefined();
		expect(maskUrls(made.url())).toBe("nats://***@10.0.0.1:4222");
		expect(made.file(/nats\.conf/)).toBe(
			`listen: "0.0.0.0:4222"\nserver_name: "mqbench-1"\nauthorization {\n  token: "${new URL(made.url()).username}"\n}\n`,
		);
		expect(made.healthy).toBeUndefined();
	});

	test("of JetStream keeps streams on a volume, with the settings of the level", async () => {
		const made = await contain({ broker: "nats", mode: "jetstream" }, { level: "fsync" });
		expect(made).toMatchObject({ path: "/data", data: "disk" });
		expect(made.file(/nats\.conf/)).toContain('store_dir: "/data"');
		expect(made.file(/nats\.conf/)).toContain('sync_interval: "always"');
		expect(made.settings).toEqual({ "jetstream.sync_interval": "always" });
	});

	test("as a cluster names all members, and is asked for its leader", async () => {
		const made = await contain({ broker: "nats", mode: "jetstream", nodes: 3 }, { nodes: 3 });
		const conf = made.file(/nats\.conf/).replaceAll(/mqbench:\w+@/g, "***@");
		expect(conf).toContain(
			'routes: ["nats://***@10.0.0.1:6222","nats://***@10.0.0.2:6222","nats://***@10.0.0.3:6222"]',
		);
		expect(conf).toContain('http: "0.0.0.0:8222"');
		expect(made.url().replaceAll(/\w+@/g, "***@")).toBe(
			"nats://***@10.0.0.1:4222,nats://***@10.0.0.2:4222,nats://***@10.0.0.3:4222",
		);
		expect(made.healthy).toBeDefined();
		expect(made.nodes.map(({ files }) => Object.values(files)[0])).toEqual([
			expect.stringContaining("mqbench-1"),
			expect.stringContaining("mqbench-2"),
			expect.stringContaining("mqbench-3"),
		]);
	});

	test("behind published ports tells clients those", async () => {
		const made = await contain(
			{ broker: "nats", mode: "jetstream", nodes: 3 },
			{ nodes: 3, published: true },
		);
		expect(made.file(/nats\.conf/)).toContain('client_advertise: "127.0.0.1:4000"');
		expect(made.url()).toMatch(/^nats:\/\/\w+@127\.0\.0\.1:4000,/);
		// One alone has no others to tell of: it may be reached in any way.
		const one = await contain({ broker: "nats" }, { published: true });
		expect(one.file(/nats\.conf/)).not.toContain("advertise");
		expect(maskUrls(one.url())).toBe("nats://***@127.0.0.1:4000");
	});
});

describe("Kafka in containers", () => {
	test("formats its volume and serves, under the flags of target local", async () => {
		const made = await contain({ broker: "kafka" });
		expect(made.first.entrypoint).toBe("/bin/sh");
		const [, line] = made.first.args;
		expect(line).toMatch(
			/^java .*-cp '\/opt\/kafka\/libs\/\*' kafka\.tools\.StorageTool format --ignore-formatted -t \S+ -c \/etc\/mqbench\/server\.properties && exec java -Xms536870912 -Xmx536870912 -XX:\+UseG1GC .*kafka\.Kafka \/etc\/mqbench\/server\.properties$/,
		);
		expect(made).toMatchObject({ path: "/var/lib/kafka/data", data: "disk" });
		const conf = made.file(/server\.properties/);
		expect(conf).toContain("log.dirs=/var/lib/kafka/data\n");
		expect(conf).toContain(
			"listeners=PLAINTEXT://:9092,CONTROLLER://:9093\nadvertised.listeners=PLAINTEXT://10.0.0.1:9092\n",
		);
		expect(conf).toContain("controller.quorum.voters=1@10.0.0.1:9093\n");
		expect(made.settings["log.dirs"]).toBe("on a volume");
		expect(made.url()).toBe("kafka://10.0.0.1:9092");
	});

	test("of level memory keeps its logs in memory, and says so", async () => {
		const made = await contain({ broker: "kafka" }, { level: "memory" });
		expect(made.data).toBe("memory");
		expect(made.settings["log.dirs"]).toBe("tmpfs (in memory)");
	});

	test("as a cluster has as many voters and copies of its own topics", async () => {
		const made = await contain({ broker: "kafka", nodes: 3 }, { nodes: 3 });
		expect(made.file(/server\.properties/)).toContain(
			"controller.quorum.voters=1@10.0.0.1:9093,2@10.0.0.2:9093,3@10.0.0.3:9093\n",
		);
		expect(made.settings["offsets.topic.replication.factor"]).toBe("3");
	});

	test("behind published ports tells clients those, and other nodes its own address", async () => {
		const made = await contain({ broker: "kafka", nodes: 3 }, { nodes: 3, published: true });
		const conf = made.file(/server\.properties/);
		expect(conf).toContain(
			"advertised.listeners=PLAINTEXT://127.0.0.1:4000,INTERNAL://10.0.0.1:9094\ninter.broker.listener.name=INTERNAL\n",
		);
		expect(conf).toContain("INTERNAL:PLAINTEXT");
	});

	test("has config last, and the heap that is asked for", async () => {
		const made = await contain({ broker: "kafka", heap: "1GiB", config: { "num.io.threads": 2 } });
		expect(made.file(/server\.properties/)).toContain("num.io.threads=2\n");
		expect(made.settings.java).toMatch(/^-Xms1GiB -Xmx1GiB /);
	});
});

test.each<[Level | null, string]>([
	[null, "appendonly no"],
	["interval", "appendfsync everysec"],
	["fsync", "appendfsync always"],
])("Redis with level %s has %s, on a volume", async (level, line) => {
	const made = await contain({ broker: "redis" }, { level });
	const conf = made.file(/redis\.conf/);
	expect(conf).toContain(`${line}\n`);
	expect(conf).toContain("bind 0.0.0.0\n");
	expect(conf).toContain('dir "/data"\n');
	expect(conf).toContain('save ""\n');
	// What the entry points of redis and valkey take for the server's file.
	expect(made.first.args).toEqual(["/etc/mqbench/redis.conf"]);
	expect(made).toMatchObject({ path: "/data", data: "disk" });
	expect(maskUrls(made.url())).toBe("redis://***@10.0.0.1:6379");
});

describe("RabbitMQ in containers", () => {
	test("has a user of its own, no plugins, and its data on a volume", async () => {
		const made = await contain({ broker: "rabbitmq" });
		const conf = made.file(/conf\.d\/90-mqbench\.conf/);
		const [, password] = /^default_pass = (\w{24})$/m.exec(conf) ?? [];
		expect(made.url()).toBe(`amqp://mqbench:${password}@10.0.0.1:5672`);
		expect(conf).toContain("listeners.tcp.1 = 0.0.0.0:5672\n");
		expect(made.file(/enabled_plugins/)).toBe("[].\n");
		expect(made.first.args).toEqual(["rabbitmq-server"]);
		expect(made).toMatchObject({ path: "/var/lib/rabbitmq", data: "disk" });
		expect(JSON.stringify(made.settings)).not.toContain(password);
		expect(JSON.stringify(made.first.env)).not.toContain(password);
	});

	const PERMIT = "deprecated_features.permit.transient_nonexcl_queues";
	test.each([
		["the image says 4", { env: { RABBITMQ_VERSION: "4.2.1" } }, true],
		["the image says 3", { env: { RABBITMQ_VERSION: "3.13.7" } }, false],
		["its tag says 4", { image: "rabbitmq:4-alpine" }, true],
		["its tag says nothing", { image: "mine:latest" }, false],
	])("permits what version 4 deprecates, when %s", async (_, parts, permits) => {
		const made = await contain({ broker: "rabbitmq" }, { level: "memory", ...parts });
		expect(PERMIT in made.settings).toBe(permits);
	});
});
