// For ends.test.ts: a cloud that is a folder, and a process that rents there and may be killed. Plain JavaScript over dist/, because the
// process runs without vitest.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Parts of a provider. Each thing is a file, named as its machine, that outlives whoever rented it; Pulumi is a stack that stores what it
 * makes in the rig's folder. `reached` is called at each step.
 */
export function cloudIn(folder, { output, reached = async () => {} }) {
	const cloud = path.join(folder, "cloud");
	mkdirSync(cloud, { recursive: true });
	const gone = (name) => rmSync(path.join(cloud, name), { force: true });
	return {
		account: async () => "111111111111",
		async open({ pulumi, config, id }) {
			await reached("planned");
			const state = path.join(pulumi, "state.json");
			const made = () => (existsSync(state) ? JSON.parse(readFileSync(state, "utf8")) : null);
			const keep = (names) => writeFileSync(state, JSON.stringify(names));
			return {
				async up() {
					const { expiresAt } = JSON.parse(readFileSync(config, "utf8"));
					const names = ["broker-1", "client-1", "client-2"];
					for (const [i, name] of names.entries()) {
						keep(names.slice(0, i + 1));
						const text = JSON.stringify({ id, expiresAt });
						writeFileSync(path.join(cloud, name), text);
						await reached("up");
					}
					return output;
				},
				async destroy() {
					for (const name of made() ?? []) {
						gone(name);
						keep(made().filter((one) => one !== name));
						await reached("destroying");
					}
				},
				cancel: async () => {},
				resources: async () => made()?.map((name) => `aws:ec2/instance:Instance ${name}`) ?? null,
				unsure: async () => [],
				remove: async () => rmSync(state, { force: true }),
			};
		},
		async find({ id }, { clock }) {
			const all = readdirSync(cloud).map((name) => ({
				name,
				...JSON.parse(readFileSync(path.join(cloud, name), "utf8")),
			}));
			return [...new Set(all.map((one) => one.id))].map((rig) => {
				const own = all.filter((one) => one.id === rig);
				const { expiresAt } = own[0];
				const expired = Date.parse(expiresAt) <= clock.nowMs();
				const chosen = id === null ? expired : id === rig;
				const things = own.map(({ name }) => ({
					...{ kind: "instance", id: name, detail: "running", since: null },
				}));
				return { id: rig, owner: "jane", expiresAt, expired, chosen, things };
			});
		},
		async remove(rigs) {
			const removed = rigs.flatMap(({ things }) => things);
			for (const { id } of removed) gone(id);
			return { removed, left: [] };
		},
	};
}

if (process.env.MQBENCH_ENDS !== undefined) {
	const asked = JSON.parse(process.env.MQBENCH_ENDS);
	const { standUpCloud } = await import("../../dist/infra/cloud/lifecycle.js");
	const { aws } = await import("../../dist/infra/cloud/aws/provider.js");
	const reached = async (phase) => {
		if (phase !== asked.at) return;
		process.stdout.write("reached");
		await new Promise(() => setInterval(() => {}, 1000));
	};
	const world = {
		env: { MQBENCH_STATE_DIR: asked.state, PATH: process.env.PATH },
		clock: { nowMs: () => asked.nowMs, monotonicMs: () => 0 },
		stop: new AbortController().signal,
		ask: null,
	};
	const parts = cloudIn(asked.folder, { output: asked.output, reached });
	const rig = await standUpCloud(asked.offer, world, {
		clouds: async () => ({ ...aws, ...parts }),
		say() {},
	});
	await reached("measuring");
	if (asked.at === "kept") {
		await rig.keep();
		await reached("kept");
	}
	await rig.teardown();
}
