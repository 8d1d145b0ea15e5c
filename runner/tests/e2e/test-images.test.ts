import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { noEngine, skipWithoutEngine } from "../../../infra/docker/engine.fake.ts";
import { ownerText } from "../../../infra/owner.ts";
import { temporaryFolder } from "./mqbench.ts";
import { enter, removeTestImages } from "./test-images.ts";

test("the last of several test runs is the one that finds no other", () => {
	const folder = temporaryFolder();
	const leave = enter(folder);
	const other = path.join(folder, "other");
	writeFileSync(other, ownerText(process.ppid));
	expect(leave()).toBe(false);
	const again = enter(folder);
	// It was killed.
	writeFileSync(other, ownerText(process.ppid).replace(/^\d+/, "4194305"));
	expect(again()).toBe(true);
	expect(readdirSync(folder)).toEqual([]);
});

test.skipIf(skipWithoutEngine)(
	`images of tests are removed, no others${noEngine && ` (${noEngine})`}`,
	() => {
		const name = `mqbench-test-${process.pid}`;
		const label = `${name}=yes`;
		onTestFinished(() => {
			spawnSync("docker", ["image", "rm", "--force", `${name}:b`, `${name}:c`]);
		});
		make(`${name}:a`, `LABEL ${label}`);
		// Its name goes to another: it has none any more.
		make(`${name}:b`, `LABEL ${label}`);
		make(`${name}:b`, "LABEL other=yes");
		make(`${name}:c`, `LABEL ${name}=no`);
		removeTestImages(label);
		const left = execFileSync("docker", ["image", "ls", "--format", "{{.Tag}}", name], {
			encoding: "utf8",
		});
		expect(left.trim().split("\n").sort()).toEqual(["b", "c"]);
		expect(
			execFileSync("docker", ["image", "ls", "--quiet", "--filter", `label=${label}`], {
				encoding: "utf8",
			}),
		).toBe("");
	},
);

function make(name: string, change: string): void {
	execFileSync(
		"sh",
		["-c", 'tar -cT /dev/null | docker import --change "$1" - "$0"', name, change],
		{ stdio: "ignore" },
	);
}
