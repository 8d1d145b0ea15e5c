import { mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { failure } from "../errors.ts";
import { loadScenario } from "../scenario/load.ts";
import { fakeWorld } from "../world.fake.ts";
import { type WatchArgs, watching } from "./watch.ts";

const scenario = loadScenario(
	"orders.yaml",
	"name: orders\nsystem: nats\nworkload: {rate: 10/s, message: 256B, duration: 10s}\n",
);

function command(env: Record<string, string> = {}) {
	const cwd = testFolder();
	const stop = new AbortController();
	const interrupt = vi.fn(() => stop.abort("SIGINT"));
	const world = { ...fakeWorld({ cwd, env, stop: stop.signal }), interrupt };
	const folder = "reports/1";
	return {
		world,
		interrupt,
		url: () => /http:\S+\//.exec(world.err())?.[0] ?? "",
		report(html = "<h1>the report") {
			mkdirSync(path.join(cwd, folder), { recursive: true });
			writeFileSync(path.join(cwd, folder, "report.html"), html);
		},
		watched: (
			args: WatchArgs,
			use: Parameters<typeof watching>[3] = async () => 0,
			of = scenario,
		) => watching(args, { scenario: of, folder }, world, use),
	};
}

/** The text of a page's events until the server ends. */
async function told(url: string): Promise<{ all: Promise<string> }> {
	const answer = await fetch(new URL("events", url));
	return { all: answer.text() };
}

describe("a command that nobody watches", () => {
	test("serves nothing, says nothing, and has its own exit code", async () => {
		const { watched, world } = command();
		expect(
			await watched({}, async (feed) => {
				expect(feed).toBeNull();
				return 99;
			}),
		).toBe(99);
		expect(world.err() + world.out()).toBe("");
	});

	test("opens its report in the end, or says which file to open", async () => {
		const { watched, world, report } = command({ PATH: "/nowhere" });
		const use = async () => {
			expect(world.err()).toBe("");
			report();
			return 6 as const;
		};
		expect(await watched({ open: true }, use)).toBe(6);
		expect(world.err()).toMatch(
			/^--open: there is no \S+ here to open a browser with; open reports\/1\/report\.html yourself\.\n$/,
		);
	});

	test("opens no report that was not written, and says so", async () => {
		const { watched, world } = command();
		expect(await watched({ open: true }, async () => 3)).toBe(3);
		expect(world.err()).toBe(
			"--open: there is no report to open: reports/1/report.html was not written.\n",
		);
	});
});

describe("a command that is watched", () => {
	test("says where, serves its page, and turns it into the report", async () => {
		const { watched, world, url, report } = command();
		let events = Promise.resolve("");
		const code = await watched({ watch: true }, async (feed) => {
			expect(world.err()).toBe(
				`Watch it at ${url()} until it ends; the page is the report so far.\n`,
			);
			const page = await fetch(url());
			expect(await page.text()).toContain('src="watch.js"');
			events = (await told(url())).all;
			feed?.say("a note");
			report();
			return 99;
		});
		expect(code).toBe(99);
		// The path of the report comes first, because the report may be cut off.
		expect(await events).toMatch(
			/^event: over\ndata: ".*: open reports\/1\/report\.html\."\n\nevent: page\ndata: .*<h1>the report/m,
		);
		expect(await events).toContain("The same report: reports/1/report.html");
		await expect(fetch(url())).rejects.toThrow();
	});

	test("over ssh says how to get there", async () => {
		const { watched, world, url, report } = command({
			SSH_CONNECTION: "10.0.0.9 1 10.0.0.1 22",
		});
		await watched({ watch: true }, async () => {
			report();
			return 0;
		});
		const { port } = new URL(url());
		expect(world.err()).toContain(`ssh -N -L ${port}:127.0.0.1:${port} `);
	});

	test("is stopped by its page as by one Ctrl-C, once, and says so in both places", async () => {
		const { watched, world, url, report, interrupt } = command();
		const stop = async () => {
			const { origin } = new URL(url());
			const answer = await fetch(new URL("stop", url()), { method: "POST", headers: { origin } });
			return answer.text();
		};
		const code = await watched({ watch: true }, async () => {
			expect(await stop()).toBe(
				"Stopped from the page, as by one Ctrl-C: results so far are kept.",
			);
			expect(await stop()).toContain("stopping already");
			report();
			return 130;
		});
		expect(code).toBe(130);
		expect(interrupt).toHaveBeenCalledTimes(1);
		expect(world.err().match(/Stopped from the page/g)).toHaveLength(1);
	});

	test("and fails tells the page why, without passwords, and fails with the same", async () => {
		const { watched, url } = command();
		let events = Promise.resolve("");
		const error = failure("usage", { message: "nats://me:pw@host is not there" });
		await expect(
			watched({ watch: true }, async (feed) => {
				events = (await told(url())).all;
				feed?.say("building");
				throw error;
			}),
		).rejects.toBe(error);
		const text = await events;
		expect(text).toMatch(/mqbench has ended without a report: nats:\/\/\*\*\*@host is not there/);
		expect(text).not.toContain("pw@");
		await expect(fetch(url())).rejects.toThrow();
	});

	test("and leaves no report keeps its exit code, and the page says why it has none", async () => {
		const { watched, url } = command();
		let events = Promise.resolve("");
		const code = await watched({ watch: true }, async () => {
			events = (await told(url())).all;
			return 99;
		});
		expect(code).toBe(99);
		expect(await events).toMatch(/without a report: ENOENT/);
	});

	test("opens its page by an address that is good once", async () => {
		const { watched, world, url, report } = command({ PATH: "/nowhere" });
		await watched({ watch: true, open: true }, async () => {
			expect(world.err()).toMatch(/--open: there is no/);
			report();
			return 0;
		});
		expect(world.err()).toContain(`open ${url()} yourself`);
	});

	test.each(["0", "65536", "80.5", "x", "-1", ""])("cannot be at port %j", async (watchPort) => {
		const { watched } = command();
		await expect(watched({ watch: true, watchPort })).rejects.toMatchObject({
			exit: 2,
			message: `--watch-port ${watchPort}: is not a port; give a number from 1 to 65535`,
		});
	});

	test("at a port that is taken does not begin", async () => {
		const taken = createServer();
		await new Promise<void>((r) => taken.listen(0, "127.0.0.1", r));
		onTestFinished(() => void taken.close());
		const { port } = taken.address() as AddressInfo;
		const { watched } = command();
		const use = vi.fn();
		await expect(watched({ watch: true, watchPort: `${port}` }, use)).rejects.toMatchObject({
			code: "watch-port",
			exit: 3,
		});
		expect(use).not.toHaveBeenCalled();
	});
});
