import {
	chmodSync,
	existsSync,
	mkdirSync,
	readFileSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { brokerFrom, Manifest, type Outside } from "../../runner/brokers/outside.ts";
import { around, loadScenario } from "../../runner/scenario/load.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import { testFolder } from "../test-folder.fake.ts";
import { MANIFEST } from "./extension.fake.ts";
import { allowCode, pin, pinned } from "./pins.ts";

const manifest = Manifest.parse(MANIFEST);
const sum = (letter: string) => `h1:${letter.repeat(43)}=`;

function driver(letter: string, version: string | null = "v1.0.0"): Outside {
	const title = version === null ? "../xk6-mybroker" : `example.com/m ${version}`;
	const broker = brokerFrom(manifest);
	return {
		module: "example.com/m",
		version,
		title,
		sum: sum(letter),
		folder: "/m",
		manifest,
		broker,
	};
}

function beside() {
	const scenario = path.join(testFolder(), "load.test.yaml");
	return { scenario, lock: scenario.replace("yaml", "lock") };
}

describe("the lock", () => {
	test("is written beside the scenario when they are built, and is the same when nothing has changed", () => {
		const { scenario, lock } = beside();
		const first = pinned(scenario, [driver("a")]);
		expect(first).toMatchObject({ lock, found: [{ before: null }] });
		expect(existsSync(lock)).toBe(false);
		pin(first);
		expect(readFileSync(lock, "utf8")).toBe(`example.com/m v1.0.0 ${sum("a")}\n`);
		const second = pinned(scenario, [driver("a")]);
		expect(second).toMatchObject({ found: [{ before: sum("a") }] });
		// What need not be written need not be writable.
		chmodSync(path.dirname(lock), 0o500);
		pin(second);
		chmodSync(path.dirname(lock), 0o700);
	});

	test("refuses a module that has other files under its version; another version is new", () => {
		const { scenario, lock } = beside();
		pin(pinned(scenario, [driver("a")]));
		expect(() => pinned(scenario, [driver("b")])).toThrow(
			`example.com/m v1.0.0: has other files than ${lock} pins under the same version: ${sum("b")}, not ${sum("a")}.`,
		);
		expect(pinned(scenario, [driver("b", "v1.0.1")]).found[0]?.before).toBeNull();
	});

	test.each([
		["another form", "{}"],
		["no sum", "example.com/m v1.0.0\n"],
		["more", `example.com/m v1.0.0 ${sum("a")}\nreplace x => /y\n`],
	])("that is damaged (%s) is a sentence", (_, text) => {
		const { scenario, lock } = beside();
		writeFileSync(lock, text);
		expect(() => pinned(scenario, [driver("a")])).toThrow(
			/^load.test.lock: cannot be read \(it is not one that mqbench has written\)/,
		);
	});

	test("is not read or written through a link", () => {
		const { scenario, lock } = beside();
		const mine = path.join(path.dirname(lock), "mine");
		writeFileSync(mine, "precious");
		symlinkSync(mine, lock);
		expect(() => pinned(scenario, [driver("a")])).toThrow(/it is a symbolic link/);
		expect(readFileSync(mine, "utf8")).toBe("precious");
	});

	test("that cannot be written says so", () => {
		const { scenario, lock } = beside();
		const now = pinned(scenario, [driver("a")]);
		mkdirSync(lock);
		expect(() => pin(now)).toThrow(/it pins what the scenario runs/);
	});
});

describe("code of others", () => {
	/** A scenario with this driver, after a lock with that one. */
	function scenario(now: Outside, before?: Outside) {
		const { scenario: file } = beside();
		if (before) pin(pinned(file, [before]));
		const text = `name: mine\nsystem: { broker: mybroker, command: [server, "{port}"] }\nworkload: { rate: 1/s, message: 1KiB, duration: 5s }\n`;
		return loadScenario(file, text, {}, {}, { ...around(file), drivers: pinned(file, [now]) });
	}
	const asking = (answer: string) => {
		const asked: string[] = [];
		const ask = async (question: string) => {
			asked.push(question);
			return answer;
		};
		return { asked, world: fakeWorld({ ask }) };
	};

	test("is shown and asked about on a terminal", async () => {
		const { asked, world } = asking("y");
		await allowCode(scenario(driver("a")), false, world);
		expect(asked).toEqual(["Build and run it? [y/N] "]);
		expect(world.err()).toBe(
			`mine runs code that is not mqbench's:
  extension example.com/m v1.0.0, the driver of mybroker: ${sum("a")}, not in load.test.lock yet
  mybroker: program server '{port}'
`,
		);
	});

	test.each(["", "n", "no", "maybe"])("the answer %j runs nothing", async (answer) => {
		await expect(
			allowCode(scenario(driver("a")), false, asking(answer).world),
		).rejects.toMatchObject({
			code: "code-refused",
			exit: 2,
		});
	});

	test("is refused without a terminal, with all lines, unless it is allowed", async () => {
		await expect(allowCode(scenario(driver("a")), false, fakeWorld())).rejects.toMatchObject({
			code: "code-unallowed",
			message: expect.stringMatching(
				/extension example.com\/m v1.0.0.*\n.*program server.*\nLook at it, then write --allow-code/,
			),
		});
		await allowCode(scenario(driver("a")), true, fakeWorld());
		await allowCode(scenario(driver("a"), driver("a")), true, fakeWorld());
	});

	test("a folder that has changed since it was pinned is asked about, allowed or not", async () => {
		const changed = scenario(driver("b", null), driver("a", null));
		const { asked, world } = asking("y");
		await allowCode(changed, true, world);
		expect(asked).toHaveLength(1);
		expect(world.err()).toContain(`${sum("b")}, changed: load.test.lock has ${sum("a")}`);
		for (const allow of [true, false])
			await expect(allowCode(changed, allow, fakeWorld())).rejects.toMatchObject({
				code: "code-changed",
				message: expect.stringContaining("pins other files than there are now in ../xk6-mybroker"),
			});
	});

	test("a scenario without extensions asks nothing", async () => {
		const plain = loadScenario(
			"s.yaml",
			"system: nats\nworkload: { rate: 1/s, message: 1KiB, duration: 5s }\n",
		);
		await allowCode(plain, false, fakeWorld());
	});
});
