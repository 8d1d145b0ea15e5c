import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { RemoteHost } from "../remote/host.ts";
import type { Link } from "../remote/link.ts";
import { testFolder } from "../test-folder.fake.ts";
import { bring, bundleOf } from "./bring.ts";

test("a folder is brought with what its links lead to, and a link to nothing is nothing", async () => {
	const elsewhere = testFolder();
	writeFileSync(path.join(elsewhere, "b.jar"), "four");
	mkdirSync(path.join(elsewhere, "more"));
	writeFileSync(path.join(elsewhere, "more", "c.jar"), "c");
	const folder = testFolder();
	writeFileSync(path.join(folder, "a.jar"), "a");
	symlinkSync(path.join(elsewhere, "b.jar"), path.join(folder, "b.jar"));
	symlinkSync(path.join(elsewhere, "more"), path.join(folder, "linked"));
	symlinkSync(folder, path.join(folder, "itself"));
	symlinkSync("nowhere", path.join(folder, "dangling.jar"));
	const { files, sums, single } = await bundleOf("jars", folder);
	expect(files.map(({ name, bytes }) => [name, bytes])).toEqual([
		["a.jar", 1],
		["b.jar", 4],
		["linked/c.jar", 1],
	]);
	expect(sums.split("\n")).toHaveLength(4);
	expect(single).toBe(false);
});

/** A host whose home is a folder of this machine; counts the commands that it was given something for. */
function hostAt(home: string) {
	let pushes = 0;
	const link: Pick<Link, "run"> = {
		async run(line, args = [], feed) {
			const child = spawn("sh", ["-c", line, "sh", ...args], {
				env: { PATH: process.env.PATH, HOME: home },
				stdio: ["pipe", "pipe", "inherit"],
			});
			if (feed) {
				pushes++;
				feed(child.stdin);
			} else child.stdin.end();
			let out = "";
			child.stdout.on("data", (text) => {
				out += text;
			});
			const code = await new Promise<number>((resolve) =>
				child.once("close", (one) => resolve(one ?? 255)),
			);
			const values = [...out.matchAll(/^mqbench:(\w+)=(.*)$/gm)];
			return {
				code,
				err: "",
				values: Object.fromEntries(values.map(([, name, value]) => [name, value])),
			};
		},
	};
	return { link: link as Link, pushes: () => pushes };
}

test.each([
	["exchanged", (file: string) => writeFileSync(file, "x")],
	["lost", (file: string) => rmSync(file)],
	["joined by another", (file: string) => writeFileSync(`${file}.jar`, "x")],
])("what was brought is brought again when a file of it was %s", async (_, harm) => {
	const folder = testFolder();
	for (const name of ["a.jar", "b.jar"]) writeFileSync(path.join(folder, name), name);
	const { link, pushes } = hostAt(testFolder());
	const bundle = await bundleOf("jars", folder);
	const brought = () =>
		bring({ name: "h" } as RemoteHost, link, bundle, {
			say: () => {},
			stop: new AbortController().signal,
		});
	const there = await brought();
	expect(await brought()).toBe(there);
	expect(pushes()).toBe(1);
	harm(path.join(there, "a.jar"));
	expect(await brought()).toBe(there);
	expect(pushes()).toBe(2);
	expect(readdirSync(there).sort()).toEqual([".sums", "a.jar", "b.jar"]);
	expect(readFileSync(path.join(there, "a.jar"), "utf8")).toBe("a.jar");
});

test("of two that bring the same at once one whole copy stays", async () => {
	const folder = testFolder();
	for (const name of ["a.jar", "b.jar"]) writeFileSync(path.join(folder, name), name);
	const { link } = hostAt(testFolder());
	const bundle = await bundleOf("jars", folder);
	const options = { say() {}, stop: new AbortController().signal };
	const two = () => bring({ name: "h" } as RemoteHost, link, bundle, options);
	const [one, other] = await Promise.all([two(), two()]);
	expect(one).toBe(other);
	expect(readdirSync(one).sort()).toEqual([".sums", "a.jar", "b.jar"]);
	expect(readdirSync(path.dirname(one))).toEqual([path.basename(one)]);
});
