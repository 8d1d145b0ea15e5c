import { execFileSync } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { imageOf, SystemOptions } from "../../brokers/index.ts";
import { KubernetesFile } from "../../scenario/kubernetes-schema.ts";
import { sha256 } from "../../sha256.ts";
import { fillRoot, type Imitated } from "../../tests/e2e/images.ts";

/** For tests: images as files, made from this machine's files, without an engine. */

/** The program that holds a pod's namespaces: Kubernetes' own, from its sources. */
export async function pauseImage(file: string): Promise<void> {
	await image(file, "localhost/mqtest/pause:1", (root) => {
		const modules = execFileSync("go", ["env", "GOMODCACHE"], { encoding: "utf8" }).trim();
		execFileSync("gcc", [
			"-Os",
			"-static",
			"-s",
			"-o",
			path.join(root, "pause"),
			path.join(modules, "k8s.io/kubernetes@v1.34.1/build/pause/linux/pause.c"),
		]);
		return ['ENTRYPOINT ["/pause"]'];
	});
}

/** The load generator's image unless a scenario names another one: busybox. */
export async function clientImage(file: string): Promise<void> {
	const { image: name } = KubernetesFile.parse({});
	await image(file, `docker.io/library/${name}`, (root) => {
		putShell(root);
		return ["ENV PATH=/bin"];
	});
}

/** A broker's official image as pods need it: with a shell, and an entry point of the official name. */
export async function brokerImage(broker: Imitated, file: string): Promise<void> {
	const options = SystemOptions.parse({ broker });
	const name = imageOf({ image: null, options });
	await image(
		file,
		name.includes("/") ? `docker.io/${name}` : `docker.io/library/${name}`,
		async (root) => {
			const changes = await fillRoot(broker, root);
			putShell(root);
			const entry = changes.find((change) => change.startsWith("ENTRYPOINT "));
			const words = entry ? (JSON.parse(entry.slice("ENTRYPOINT ".length)) as string[]) : [];
			mkdirSync(path.join(root, "usr/local/bin"), { recursive: true });
			writeFileSync(
				path.join(root, "usr/local/bin/docker-entrypoint.sh"),
				`#!/bin/sh\nexec ${words.join(" ")} "$@"\n`,
				{ mode: 0o755 },
			);
			return [
				...changes.filter((change) => change !== entry),
				'ENTRYPOINT ["docker-entrypoint.sh"]',
			];
		},
	);
}

// --- internal ---

/** Writes an image as `docker save` does, after `fill` has put files into its root; it returns words of a Dockerfile. */
async function image(
	file: string,
	name: string,
	fill: (root: string) => string[] | Promise<string[]>,
): Promise<void> {
	const root = mkdtempSync(path.join(tmpdir(), "mqbench-image-"));
	const out = mkdtempSync(path.join(tmpdir(), "mqbench-image-"));
	try {
		for (const folder of ["etc", "bin"]) mkdirSync(path.join(root, folder));
		mkdirSync(path.join(root, "tmp"));
		execFileSync("chmod", ["1777", path.join(root, "tmp")]);
		const changes = await fill(root);
		const layer = path.join(out, "layer.tar");
		tar(layer, root, ["."], "--mode=a+rX");
		const config = JSON.stringify({
			architecture: ARCH[process.arch] ?? process.arch,
			os: "linux",
			config: configOf(changes),
			rootfs: { type: "layers", diff_ids: [`sha256:${sha256OfFile(layer)}`] },
			history: [{ created_by: "mqbench's tests" }],
		});
		const id = sha256(config);
		writeFileSync(path.join(out, `${id}.json`), config);
		writeFileSync(
			path.join(out, "manifest.json"),
			JSON.stringify([{ Config: `${id}.json`, RepoTags: [name], Layers: ["layer.tar"] }]),
		);
		tar(file, out, ["manifest.json", `${id}.json`, "layer.tar"]);
	} finally {
		for (const folder of [root, out]) rmSync(folder, { recursive: true, force: true });
	}
}

const ARCH: Readonly<Record<string, string>> = { x64: "amd64" };

function tar(
	file: string,
	folder: string,
	names: readonly string[],
	...more: readonly string[]
): void {
	execFileSync("tar", ["--owner=0", "--group=0", ...more, "-C", folder, "-cf", file, ...names]);
}

function sha256OfFile(file: string): string {
	return execFileSync("sha256sum", [file], { encoding: "utf8" }).split(" ")[0] ?? "";
}

function configOf(changes: readonly string[]) {
	const of = (word: string) =>
		changes
			.filter((change) => change.startsWith(`${word} `))
			.map((change) => change.slice(word.length + 1));
	const env = of("ENV");
	const [entrypoint] = of("ENTRYPOINT");
	const [user = ""] = of("USER");
	return {
		Entrypoint: entrypoint === undefined ? [] : JSON.parse(entrypoint),
		Env: env.some((pair) => pair.startsWith("PATH="))
			? env.map((pair) => (pair.startsWith("PATH=") ? `${pair}:/usr/local/bin:/bin` : pair))
			: [...env, "PATH=/usr/local/bin:/bin"],
		User: user,
		WorkingDir: "/",
	};
}

/** busybox under all of its names; the image's own commands stay. */
function putShell(root: string): void {
	const bin = path.join(root, "bin");
	mkdirSync(bin, { recursive: true });
	writeFileSync(path.join(bin, "busybox"), readFileSync("/bin/busybox"), { mode: 0o755 });
	for (const name of execFileSync("/bin/busybox", ["--list"], { encoding: "utf8" }).split("\n"))
		if (name !== "" && !existsSync(path.join(bin, name)))
			symlinkSync("busybox", path.join(bin, name));
}
