import { spawnSync } from "node:child_process";

/** On images made by tests: they have official names, and are not the originals. */
export const TEST_IMAGE = "mqbench.test=yes";

/** For all tests: removes the images that they have made when they are over. Does nothing without an engine. */
export default function setup(): () => void {
	return () => {
		const images = ["image", "ls", "--filter", `label=${TEST_IMAGE}`];
		const format = ["--format", "{{.Repository}}:{{.Tag}} {{.ID}}"];
		const found = spawnSync("docker", [...images, ...format], { encoding: "utf8" });
		if (found.status !== 0) return;
		const names = found.stdout
			.split("\n")
			.filter(Boolean)
			.map((line) => line.split(" "))
			// By their names: an image that has another name as well keeps that. By ID if another image has got the name since.
			.map(([name = "", id = ""]) => (name.includes("<none>") ? id : name));
		if (names.length > 0)
			spawnSync("docker", ["image", "rm", "--force", ...new Set(names)], {
				stdio: ["ignore", "ignore", "inherit"],
			});
	};
}
