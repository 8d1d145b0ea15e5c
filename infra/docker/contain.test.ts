import { expect, test } from "vitest";
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

test("nodes of NATS behind published ports tell clients those; one alone has no others to tell of", async () => {
	const made = await contain(
		{ broker: "nats", mode: "jetstream", nodes: 3 },
		{ nodes: 3, published: true },
	);
	expect(made.file(/nats\.conf/)).toContain('client_advertise: "127.0.0.1:4000"');
	expect(made.url()).toMatch(/^nats:\/\/\w+@127\.0\.0\.1:4000,/);
	const one = await contain({ broker: "nats" }, { published: true });
	expect(one.data).toBeNull();
	expect(one.file(/nats\.conf/)).not.toContain("advertise");
	expect(maskUrls(one.url())).toBe("nats://***@127.0.0.1:4000");
});

test("Kafka formats its volume and serves, under the flags of target local; of level memory it keeps its logs there, and says so", async () => {
	const made = await contain({ broker: "kafka" });
	const [, line] = made.first.args;
	expect(line).toMatch(
		/^java .*-cp '\/opt\/kafka\/libs\/\*' kafka\.tools\.StorageTool format --ignore-formatted -t \S+ -c \/etc\/mqbench\/server\.properties && exec java -Xms536870912 -Xmx536870912 -XX:\+UseG1GC .*kafka\.Kafka \/etc\/mqbench\/server\.properties$/,
	);
	expect(made.settings["log.dirs"]).toBe("on a volume");
	const memory = await contain({ broker: "kafka" }, { level: "memory" });
	expect(memory.data).toBe("memory");
	expect(memory.settings["log.dirs"]).toBe("tmpfs (in memory)");
});

test("nodes of Kafka vote for each other, tell clients their published ports, and other nodes their own addresses", async () => {
	const made = await contain({ broker: "kafka", nodes: 3 }, { nodes: 3, published: true });
	const conf = made.file(/server\.properties/);
	expect(conf).toContain(
		"controller.quorum.voters=1@10.0.0.1:9093,2@10.0.0.2:9093,3@10.0.0.3:9093\n",
	);
	expect(conf).toContain(
		"advertised.listeners=PLAINTEXT://127.0.0.1:4000,INTERNAL://10.0.0.1:9094\ninter.broker.listener.name=INTERNAL\n",
	);
	expect(conf).toContain("INTERNAL:PLAINTEXT");
});

const PERMIT = "deprecated_features.permit.transient_nonexcl_queues";
test.each([
	["the image says 4", { env: { RABBITMQ_VERSION: "4.2.1" } }, true],
	["the image says 3", { env: { RABBITMQ_VERSION: "3.13.7" } }, false],
	["its tag says 4", { image: "rabbitmq:4-alpine" }, true],
	["its tag says nothing", { image: "mine:latest" }, false],
])("RabbitMQ is permitted what version 4 deprecates, when %s", async (_, parts, permits) => {
	const made = await contain({ broker: "rabbitmq" }, { level: "memory", ...parts });
	expect(PERMIT in made.settings).toBe(permits);
});
