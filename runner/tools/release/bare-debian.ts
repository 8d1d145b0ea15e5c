import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, realpathSync } from "node:fs";
import path from "node:path";

/** A Debian in a folder, with Node and npm copied in and nothing else: no Go, no compiler. The network is this machine's. */
export interface BareDebian {
	readonly root: string;
	/** Words before a command to run it in there, in an empty environment. */
	readonly enter: readonly string[];
	close(): void;
}

/** Makes one from the folder `base` of a minimal Debian. As root. */
export function makeBareDebian(base: string, root: string): BareDebian {
	execFileSync("cp", ["-a", "--reflink=auto", base, root]);
	const node = realpathSync(process.execPath);
	const copy = (file: string, to = file) => {
		mkdirSync(path.dirname(path.join(root, to)), { recursive: true });
		cpSync(file, path.join(root, to), { recursive: true, dereference: true });
	};
	copy(node, "/usr/bin/node");
	const shared = execFileSync("ldd", [node], { encoding: "utf8" });
	for (const [, file = ""] of shared.matchAll(/(\/\S+\.so\S*) \(/g))
		copy(realpathSync(file), path.join("/usr/lib/of-node", path.basename(file)));
	const npm = execFileSync("npm", ["root", "--global"], { encoding: "utf8" }).trim();
	copy(path.join(npm, "npm"), "/usr/lib/node_modules/npm");
	for (const name of ["npm", "npx"])
		execFileSync("ln", [
			"-sf",
			`../lib/node_modules/npm/bin/${name}-cli.js`,
			path.join(root, "usr/bin", name),
		]);
	const mounts = ["proc", "dev", "sys"]
		.map((name) => `mount --rbind /${name} "$1/${name}"`)
		.join(" && ");
	return {
		root,
		enter: [
			"unshare",
			"--mount",
			"--propagation",
			"private",
			"sh",
			"-c",
			`${mounts} && mount -t tmpfs tmpfs "$1/tmp" && root="$1" && shift && exec chroot "$root" env -i "$@"`,
			"sh",
			root,
		],
		close: () => void execFileSync("rm", ["-rf", "--one-file-system", root]),
	};
}

/** The words that run `command` in there, in its folder `cwd` and with only `env` as its environment. */
export function commandIn(
	{ enter }: Pick<BareDebian, "enter">,
	cwd: string,
	env: Readonly<Record<string, string>>,
	command: readonly string[],
): string[] {
	return [
		...enter,
		"LD_LIBRARY_PATH=/usr/lib/of-node",
		...Object.entries(env).map(([name, value]) => `${name}=${value}`),
		"sh",
		"-c",
		'cd "$1" && shift && exec "$@"',
		"sh",
		cwd,
		...command,
	];
}
