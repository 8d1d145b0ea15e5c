import { writeFileSync } from "node:fs";
import path from "node:path";
import { RigFile, type RigFileInput } from "../../runner/scenario/rig-file.ts";
import { testFolder } from "../test-folder.fake.ts";
import { aws } from "./aws/provider.ts";
import type { CloudRig } from "./lifecycle.ts";
import type { Offer, Provider, SweepAsked, Swept, Thing } from "./provider.ts";
import type { Clouds } from "./providers.ts";
import type { CloudSide } from "./rent.ts";

/** For tests: the real provider, but for those parts. */
export function cloudsWith(parts: Partial<Provider>): Clouds {
	return async () => ({ ...aws, ...parts });
}

/** For tests: parts of a provider that shows so many things of a rig by its tag, and can remove all but those that are `left`. */
export function sweeping(
	removed: number,
	left: Swept["left"] = [],
	seen: (asked: SweepAsked, stopped: boolean) => void = () => {},
): Pick<Provider, "find" | "remove"> {
	const gone = Array.from(
		{ length: removed },
		(_, i): Thing => ({ kind: "instance", id: `i-${i}`, detail: "", since: null }),
	);
	const things = [...gone, ...left.map(({ thing }) => thing)];
	return {
		async find(asked, { stop }) {
			seen(asked, stop.aborted);
			const owner = asked.owner ?? "";
			const rest = { expiresAt: null, expired: false, chosen: true };
			return things.length === 0 ? [] : [{ id: asked.id ?? "", owner, things, ...rest }];
		},
		remove: async () => ({ removed: gone, left }),
	};
}

/** A cloud for tests of commands: rents nothing, and remembers in which order it was asked for what. */
export interface FakeCloud extends CloudSide {
	readonly asked: string[];
	/** What the last offer was asked for. */
	readonly offered: Parameters<CloudSide["offer"]>[];
	/** Of the last confirmation. */
	readonly confirmed: Parameters<CloudSide["confirmOffer"]>[1][];
	readonly offerMade: Offer;
	/** Folder in which rig.json is. */
	readonly folder: string;
}

/** Parts that a test changes; each may throw. */
export function fakeCloud(
	parts: {
		readonly prepare?: () => void;
		readonly offer?: () => Partial<Offer>;
		readonly confirm?: () => void;
		readonly standUp?: () => void;
		readonly teardown?: () => void;
		readonly console?: () => string;
		/** In place of parts of `rentedFile`. */
		readonly file?: object;
	} = {},
): FakeCloud {
	const folder = testFolder();
	const asked: string[] = [];
	const offered: FakeCloud["offered"] = [];
	const confirmed: FakeCloud["confirmed"] = [];
	const offerMade: Offer = {
		cloud: "aws",
		config: {} as Offer["config"],
		machines: { "i4i.xlarge": 1, "c6in.xlarge": 1 },
		hourlyUsd: 0.9,
		unpriced: null,
		lines: ["zone     eu-central-1b"],
		warnings: [],
	};
	return {
		asked,
		offered,
		confirmed,
		offerMade,
		folder,
		async prepare() {
			asked.push("prepare");
			parts.prepare?.();
		},
		async offer(...args) {
			asked.push("offer");
			offered.push(args);
			return { ...offerMade, ...parts.offer?.() };
		},
		async confirmOffer(_, asking) {
			asked.push("confirm");
			confirmed.push(asking);
			parts.confirm?.();
		},
		async standUp() {
			asked.push("stand up");
			parts.standUp?.();
			return fakeRig(
				folder,
				async () => {
					asked.push("teardown");
					parts.teardown?.();
				},
				asked,
				RigFile.parse({ ...rentedFile, ...parts.file }),
				parts.console,
			);
		},
	};
}

const ACCESS = {
	user: "admin",
	identity: "id_ed25519",
	knownHosts: "known_hosts",
	setUp: true,
};

/** Machines of a rented rig: hosts for one system "nats", and two for the load. */
export const rentedFile: RigFileInput = {
	version: 1,
	id: "x-1",
	target: "aws",
	expiresAt: "2026-01-02T05:04:05Z",
	brokers: [
		{
			system: "nats",
			broker: "nats",
			hosts: [{ host: "203.0.113.1", address: "10.0.0.1", ...ACCESS }],
		},
	],
	clients: [{ host: "203.0.113.2", ...ACCESS }],
	cloud: {
		provider: "aws",
		region: "eu-central-1",
		owner: "ada",
		machines: { "i4i.xlarge": 1, "c6in.xlarge": 1 },
		hourlyUsd: 0.9,
		state: "pulumi",
	},
};

// --- internal ---

function fakeRig(
	folder: string,
	teardown: () => Promise<void>,
	asked: string[],
	file: RigFile,
	console: () => string = () => "",
): CloudRig {
	const place = path.join(folder, "rig.json");
	writeFileSync(place, JSON.stringify(file));
	return {
		place: { shown: place, path: place },
		file,
		keep() {
			asked.push("keep");
		},
		async console(host) {
			asked.push(`console of ${host}`);
			return console();
		},
		teardown,
	};
}
