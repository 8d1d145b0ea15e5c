import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { isGone, ownerText } from "../../../infra/owner.ts";

/** On images that tests have made: they have official names, and are not the originals. */
export const TEST_IMAGE = "mqbench.test=yes";

/** For all tests: images that they have made are gone when they are over. */
export default function setup(): () => void {
	const leave = enter(path.join(tmpdir(), "mqbench-test-images"));
	return () => {
		if (leave()) removeTestImages();
	};
}

/** Says in a folder that a test run goes on; at its end it hears whether it was the last one: several may share an engine. */
export function enter(folder: string): () => boolean {
	mkdirSync(folder, { recursive: true });
	const me = path.join(folder, randomUUID());
	writeFileSync(me, ownerText(process.pid));
	return () => {
		rmSync(me, { force: true });
		let last = true;
		for (const name of readdirSync(folder)) {
			const file = path.join(folder, name);
			if (isGone(ownerIn(file))) rmSync(file, { force: true });
			else if (existsSync(file)) last = false;
		}
		return last;
	};
}

/** Removes the images with this label, by their names: what has another name as well keeps that. Nothing without an engine. */
export function removeTestImages(label = TEST_IMAGE): void {
	const found = spawnSync(
		"docker",
		["image", "ls", "--filter", `label=${label}`, "--format", "{{.Repository}}:{{.Tag}} {{.ID}}"],
		{ encoding: "utf8" },
	);
	if (found.status !== 0) return;
	const names = found.stdout
		.split("\n")
		.filter(Boolean)
		.map((line) => line.split(" "))
		// The ID of one whose name another image has got since.
		.map(([name = "", id = ""]) => (name.includes("<none>") ? id : name));
	if (names.length > 0)
		spawnSync("docker", ["image", "rm", "--force", ...new Set(names)], {
			stdio: ["ignore", "ignore", "inherit"],
		});
}

// --- internal ---

/** Another run may have left meanwhile, and taken it along. */
function ownerIn(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}
