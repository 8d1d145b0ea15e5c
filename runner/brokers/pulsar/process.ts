import { storesBy } from "../broker.ts";
import { lines } from "../config.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";
import { jvmServer } from "../jvm.ts";

/** As in pom.xml. */
const image = { name: "apachepulsar/pulsar", version: "4.0.6" };
const SYNC = "journalSyncData";
const WRITE = "journalWriteData";
const FLUSH = "journalPageCacheFlushIntervalMSec";

/** What BookKeeper's journal does before a message is acknowledged; with `fsync` messages that come meanwhile share a flush. */
export const stores = storesBy({
	own: `interval (${SYNC}: false, ${FLUSH}: 1000, standalone's default)`,
	levels: {
		memory: [`${WRITE}: false`, { [WRITE]: false }],
		os: [`${SYNC}: false, never flushed`, { [SYNC]: false, [FLUSH]: 2_000_000_000 }],
		interval: [`${SYNC}: false, ${FLUSH}: 1000`, { [SYNC]: false, [FLUSH]: 1000 }],
		fsync: [`${SYNC}: true, group commit`, { [SYNC]: true }],
	},
	without: { [SYNC]: false, [FLUSH]: 1000 },
});

/** Of the maker's scripts: for Netty and statistics. */
const OPENS = [
	"java.base/java.io",
	"java.base/java.lang",
	"java.base/java.nio",
	"java.base/java.util.zip",
	"java.base/jdk.internal.misc",
	"java.base/jdk.internal.platform",
	"java.base/sun.net",
	"java.management/sun.management",
	"jdk.management/com.sun.management.internal",
].map((name) => `--add-opens=${name}=ALL-UNNAMED`);

/** Broker, bookie and metadata in one process. Containers need it in /pulsar and java on PATH. */
export const server = jvmServer<SystemOptionsOfAnyBroker>({
	image,
	jars: [
		{
			title: "Pulsar",
			name: "pulsar",
			folder: "pulsar",
			version: image.version,
			installed: { folder: "lib", jar: "org.apache.pulsar-pulsar-broker-" },
		},
	],
	megabytes: 244,
	remark: " (standalone, 1.9 GB of memory)",
	needs: "up to 1.9 GB of memory",
	container: { data: "/pulsar/data" },
	ports: () => [
		{ number: 6650, from: "clients" },
		{ number: 8080, from: "clients" },
		{ number: 3181, from: "itself" },
	],
	flags: [
		"-XX:+UseG1GC",
		"-XX:MaxGCPauseMillis=10",
		"-XX:MaxDirectMemorySize=1g",
		"-Dio.netty.tryReflectionSetAccessible=true",
		...OPENS,
	],
	logging: "",
	inImage: "/pulsar/lib",
	launch({ nodes, image, level }, { config }, run) {
		const { maxMessageSize = 5 * 1024 ** 2 } = config ?? {};
		// As much more as in the maker's file.
		const frame = { nettyMaxFrameSizeBytes: Number(maxMessageSize) + 10_240 };
		const settings = { ...OWN, ...frame, ...stores.settings(level, config) };
		const [node] = nodes;
		return {
			log: {
				name: "Pulsar",
				version: /Starting Pulsar Broker service; version: '([^']+)'/,
				up: /messaging service is ready/,
			},
			// It makes the namespace after that.
			async healthy() {
				const asked = fetch(`http://${node?.clients[1]}/admin/v2/namespaces/public/default`);
				return (await asked.catch(() => null))?.ok ?? false;
			},
			url: `pulsar://${node?.clients[0]}?http=${node?.clients[1]}`,
			settings,
			flushes: level === "fsync",
			node: (node) => ({
				// In a container it replaces the image's own start.
				before: image ? [["true"]] : [],
				argv: run(node, [
					"org.apache.pulsar.PulsarStandaloneStarter",
					...["--config", `${node.folder}/standalone.conf`],
					...["-nss", "-nfw", "--bookkeeper-port", String(node.ports[2])],
					...["--metadata-dir", `${node.data}/metadata`],
					...["--bookkeeper-dir", `${node.data}/bookkeeper`],
				]),
				files: {
					"standalone.conf": lines(
						{
							brokerServicePort: node.ports[0],
							webServicePort: node.ports[1],
							bindAddress: node.listen,
							advertisedAddress: node.client.replace(/:\d+$/, ""),
							...settings,
						},
						"=",
					),
				},
			}),
		};
	},
});

// --- internal ---

/** The maker's standalone.conf, where it matters; topics are made by clients, and stay until they remove them. */
const OWN = {
	clusterName: "standalone",
	managedLedgerDefaultEnsembleSize: 1,
	managedLedgerDefaultWriteQuorum: 1,
	managedLedgerDefaultAckQuorum: 1,
	allowAutoTopicCreation: false,
	brokerDeleteInactiveTopicsEnabled: false,
	loadBalancerEnabled: false,
	ledgerStorageClass: "org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage",
	journalMaxGroupWaitMSec: 1,
	flushInterval: 60_000,
	diskUsageThreshold: 0.99,
	diskUsageWarnThreshold: 0.99,
	allowLoopback: true,
	listeningInterface: "lo",
	// A bookie is known by its port, also when it comes back.
	allowEphemeralPorts: true,
};
