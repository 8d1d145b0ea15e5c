import { describe, expect, test } from "vitest";
import { commandLines } from "../../../infra/processes.fake.ts";
import { variable } from "../../brokers/index.ts";
import { expectNowhere, run, scenario, started, temporaryFolder } from "./mqbench.ts";
import { ownNats } from "./own-nats.ts";

const PASSWORD = "s3cr3t";
/** Where a NATS server listens that takes any login: with it, and without. */
const LOGIN = "nats://user:s3cr3t@<host>";
const OPEN = "nats://<host>";
const TOKEN = '{ broker: nats, auth: token, config: { "authorization.token": "<token>" } }';

/** How a secret may be given; `code`: what the command ends with, if not with 0. */
interface Way {
	readonly args?: readonly string[];
	readonly env?: Readonly<Record<string, string>>;
	/** A system whose broker mqbench starts; left out: the server is there already. */
	readonly system?: string;
	readonly code?: number;
}

const WAYS: Readonly<Record<string, Way>> = {
	"--url": { args: ["--url", LOGIN] },
	"--url by a variable": { args: ["--url", variable("HERE")], env: { HERE: LOGIN } },
	"--set system.url": { args: ["--set", "target=existing", "--set", `system.url=${LOGIN}`] },
	"the parameter of a URL": { args: ["--url", `${OPEN}/?sv=1&sig=${PASSWORD}`] },
	"the driver's variable": {
		args: ["--url", OPEN, "--set", "system.auth=token"],
		env: { NATS_TOKEN: PASSWORD },
	},
	"--k6-out": {
		args: ["--url", OPEN, "--k6-out", `influxdb=http://user:${PASSWORD}@127.0.0.1:1/db`],
	},
	"a variable of k6's": {
		args: ["--url", OPEN, "--k6-out", "influxdb"],
		env: {
			K6_INFLUXDB_ADDR: `http://user:${PASSWORD}@127.0.0.1:1`,
			K6_INFLUXDB_PASSWORD: `more${PASSWORD}`,
		},
	},
	"config by a variable": {
		system: TOKEN.replace("<token>", variable("NATS_TOKEN")),
		env: { NATS_TOKEN: PASSWORD },
	},
	"config in the file": {
		system: TOKEN.replace("<token>", PASSWORD),
		env: { NATS_TOKEN: PASSWORD },
	},
	"config that the broker refuses": {
		system: `{ broker: nats, config: { sasl.jaas.config: 'required password="${PASSWORD}";' } }`,
		code: 3,
	},
};

/** Each by another way into mqbench; the others in acceptance. */
const SHORT = ["--url", "config in the file"];

describe.each(Object.entries(WAYS))(
	"a secret in %s",
	(name, { args = [], env = {}, system, code = 0 }) => {
		test("is in no file, no stream and no process list", {
			tags: SHORT.includes(name) ? [] : ["long"],
		}, async () => {
			const { url } = system === undefined ? await ownNats() : { url: "nats://none" };
			const fill = (text: string) => text.replace("<host>", url.slice(7));
			const given = Object.entries(env).map(([name, value]) => [name, fill(value)]);
			const made = started({}, system === undefined ? {} : { system }, {
				args: args.map(fill),
				env: Object.fromEntries(given),
			});
			const { mqbench, results: out } = made;
			const seen = new Set<string>();
			const looking = setInterval(() => {
				for (const line of commandLines()) seen.add(line);
			}, 50);
			const ended = await mqbench.ended;
			clearInterval(looking);
			expect(ended, ended.err).toMatchObject({ code });
			// The first moments of node itself, before mqbench has hidden its words.
			const others = [...seen].filter((line) => !line.includes(out));
			expect(others.filter((line) => line.includes(PASSWORD))).toEqual([]);
			if (code === 0) expect(others.join()).toContain("script.js");
			// The message shows a better way.
			expect(ended.err.includes("a password on the command line")).toBe(
				args.some((arg) => /:\/\/.*s3cr3t/.test(arg)),
			);
			expectNowhere(PASSWORD, out, ended.out, ended.err);
			if (code === 0) expect(made.run).toMatchObject({ received: 500, failed: 0 });
		});
	},
);

test("a password is in no message about a broker that does not answer, nor about a wrong option", {
	tags: "long",
}, async () => {
	const file = scenario(temporaryFolder());
	const url = `nats://user:${PASSWORD}@127.0.0.1:1`;
	for (const args of [
		["--url", url],
		["--url", url.replace("nats", "http")],
		["--set", `system.url=${url}`],
		["--set", `systm.url=${url}`],
		["--set", `target=existing`, "--set", `system=${url}`],
		["--target", url],
		["--only", url],
		["--on-inconclusive", url],
		[`--ulr=${url}`],
		[url],
	]) {
		const ended = await run([file, ...args]);
		expect(ended.code, args.join(" ")).not.toBe(0);
		expect(ended.out + ended.err, args.join(" ")).not.toContain(PASSWORD);
	}
	expect((await run([url])).err).not.toContain(PASSWORD);
});
