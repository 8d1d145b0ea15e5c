import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe } from "vitest";
import { localPlace } from "../local/place.ts";
import { realBinaries, realWorld } from "../programs/real.fake.ts";
import { testFolder } from "../test-folder.fake.ts";
import type { RemoteHost } from "./host.ts";
import { linkTo } from "./link.fake.ts";
import { connectOwner, machineTest, processTest, STOP_MS } from "./machinetest.fake.ts";

const binaries = await realBinaries();
const { agent } = binaries;

/** No link leads here: nothing is brought, no connection can be cut, and folders are those of temporary.ts. e2e/interrupt kills mqbench itself. */
describe("on this machine", () => {
	processTest(async () => ({
		place: () =>
			localPlace({ folder: testFolder(), agent, cpus: null, stopMs: STOP_MS, world: realWorld }),
		async close() {},
	}));
});

/** Another home of this machine, with a connection that can break. */
describe("over a link of plain sh", () => {
	const HOME = mkdtempSync(path.join(tmpdir(), "mqbench-home-"));
	afterAll(() => rmSync(HOME, { recursive: true, force: true }));
	machineTest(async () => {
		const holder = spawn("cat", { stdio: ["pipe", "ignore", "ignore"] });
		const link = linkTo({ HOME }, holder.pid);
		const host: RemoteHost = { name: "h", setUp: false, connect: async () => link };
		const die = () => {
			holder.kill("SIGKILL");
			link.die();
		};
		const owner = await connectOwner(host, { options: { world: realWorld, binaries }, die });
		return { ...owner, close: () => owner.close().finally(() => holder.kill()) };
	});
});
