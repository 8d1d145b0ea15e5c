import { expect, test } from "vitest";
import { brokerOf } from "../../runner/brokers/index.ts";
import { type NodeDescription, reachedPorts, type Tools } from "../../runner/brokers/process.ts";
import type { Level } from "../../runner/model/plan.ts";
import { maskUrls } from "../../runner/secrets.ts";
import { commandOf } from "./container.ts";
import { containerSite } from "./sites.ts";
import { dockerSystem } from "./systems.fake.ts";

interface Parts {
	readonly level?: Level;
	readonly published?: boolean;
	readonly image?: string;
	readonly env?: Readonly<Record<string, string>>;
}

/** What a broker's containers are to be; `file` is one of the first. */
async function contain(
	written: Parameters<typeof dockerSystem>[0],
	{ level, published = false, image = "image:1", env = {} }: Parts = {},
) {
	const system = dockerSystem(written);
	const { nodes = 1 } = system.options;
	const kind = brokerOf(system).process;
	if (!kind) throw new Error("no broker");
	const made = await kind.describe({
		ask: null,
		where: { disk: "on a volume", memory: "tmpfs" },
		tools: {} as Tools,
		system,
		level: level ?? null,
		messageBytes: 256,
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
	const [first] = made.nodes as readonly [NodeDescription];
	return { ...made, ...commandOf(first), file: first.files };
}

test("nodes of NATS behind published ports tell clients those; one alone has no others to tell of", async () => {
	const made = await contain({ broker: "nats", mode: "jetstream", nodes: 3 }, { published: true });
	expect(made.file["nats.conf"]).toContain('client_advertise: "127.0.0.1:4000"');
	expect(made.url()).toMatch(/^nats:\/\/\w+@127\.0\.0\.1:4000,/);
	const one = await contain({ broker: "nats" }, { published: true });
	expect(one.data).toBeNull();
	expect(one.file["nats.conf"]).not.toContain("advertise");
	expect(maskUrls(one.url())).toBe("nats://***@127.0.0.1:4000");
});

test("Kafka formats its volume and serves, under the flags of target local; of level memory it keeps its logs there, and says so", async () => {
	const { args, settings } = await contain({ broker: "kafka" });
	expect(args[1]).toMatch(
		/^java .*-cp '\/opt\/kafka\/libs\/\*' kafka\.tools\.StorageTool format --ignore-formatted -t \S+ -c \/etc\/mqbench\/server\.properties && exec java -Xms536870912 -Xmx536870912 -XX:\+UseG1GC .*kafka\.Kafka \/etc\/mqbench\/server\.properties$/,
	);
	expect(settings["log.dirs"]).toBe("on a volume");
	const memory = await contain({ broker: "kafka" }, { level: "memory" });
	expect(memory.data).toBe("memory");
	expect(memory.settings["log.dirs"]).toBe("tmpfs (in memory)");
});

test("nodes of Kafka vote for each other, tell clients their published ports, and other nodes their own addresses", async () => {
	const { file } = await contain({ broker: "kafka", nodes: 3 }, { published: true });
	for (const line of [
		"controller.quorum.voters=1@10.0.0.1:9093,2@10.0.0.2:9093,3@10.0.0.3:9093\n",
		"advertised.listeners=PLAINTEXT://127.0.0.1:4000,INTERNAL://10.0.0.1:9094\ninter.broker.listener.name=INTERNAL\n",
		"INTERNAL:PLAINTEXT",
	])
		expect(file["server.properties"]).toContain(line);
});

const PERMIT = "deprecated_features.permit.transient_nonexcl_queues";
test.each([
	["the image says 4", { env: { RABBITMQ_VERSION: "4.2.1" } }, true],
	["the image says 3", { env: { RABBITMQ_VERSION: "3.13.7" } }, false],
	["its tag says 4", { image: "rabbitmq:4-alpine" }, true],
	["its tag says nothing", { image: "mine:latest" }, false],
])("RabbitMQ is permitted what version 4 deprecates, when %s", async (_, parts, permits) => {
	const { settings } = await contain({ broker: "rabbitmq" }, { level: "memory", ...parts });
	expect(PERMIT in settings).toBe(permits);
});
