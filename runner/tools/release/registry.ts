import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Installed only for the release: it has 300 packages. Some mirrors have no dist-tag "cjs" of node-fetch, which one of them asks for. */
const VERDACCIO = {
	private: true,
	dependencies: { verdaccio: "6.8.0" },
	overrides: { "node-fetch": "2.7.0" },
};

/** A registry for this machine only, that has the packages published to it, and gets the rest from the user's registry. */
export interface Registry {
	readonly url: string;
	/** Publishes a .tgz. */
	publish(file: string): void;
	close(): void;
}

/** Starts one in a new folder. */
export async function openRegistry(folder: string): Promise<Registry> {
	mkdirSync(folder, { recursive: true });
	const upstream = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
	const port = await freePort();
	const url = `http://127.0.0.1:${port}/`;
	const config = path.join(folder, "config.yaml");
	const access = "access: $all";
	writeFileSync(
		config,
		`storage: ${path.join(folder, "storage")}
uplinks: { theirs: { url: "${upstream}" } }
max_body_size: 200mb
packages:
  "@mqbench/*": { ${access}, publish: $all }
  mqbench: { ${access}, publish: $all }
  "**": { ${access}, proxy: theirs }
log: { type: stdout, format: pretty, level: error }
`,
	);
	const npmrc = path.join(folder, "npmrc");
	writeFileSync(npmrc, `registry=${url}\n//127.0.0.1:${port}/:_authToken=anybody\n`);
	writeFileSync(path.join(folder, "package.json"), JSON.stringify(VERDACCIO));
	// Its packages are not ours, and must not see a release's token.
	const env = Object.fromEntries(
		Object.entries(process.env).filter(([name]) => !SECRET.test(name)),
	);
	execFileSync("npm", ["install", "--silent", "--ignore-scripts"], {
		cwd: folder,
		env,
		stdio: ["ignore", "ignore", "inherit"],
	});
	const child = spawn(
		process.execPath,
		[
			path.join(folder, "node_modules/verdaccio/bin/verdaccio"),
			"--config",
			config,
			"--listen",
			`127.0.0.1:${port}`,
		],
		{ env, stdio: ["ignore", "ignore", "ignore"] },
	);
	await answers(url, child);
	return {
		url,
		publish: (file) =>
			void execFileSync("npm", ["publish", "--silent", "--userconfig", npmrc, file], {
				stdio: ["ignore", "ignore", "inherit"],
			}),
		close: () => void child.kill(),
	};
}

// --- internal ---

/** Proxies and certificates it needs as this process does. */
const SECRET = /token|auth|secret|passw|credential|^ACTIONS_/i;

async function answers(url: string, child: ChildProcess): Promise<void> {
	for (let tries = 0; tries < 600; tries++) {
		if (child.exitCode !== null) throw new Error(`verdaccio ended with ${child.exitCode}`);
		const ok = await fetch(`${url}-/ping`).then(
			(response) => response.ok,
			() => false,
		);
		if (ok) return;
		await sleep(200);
	}
	throw new Error(`verdaccio does not answer at ${url}`);
}

function freePort(): Promise<number> {
	return new Promise((done, fail) => {
		const server = createServer();
		server.once("error", fail);
		server.listen(0, "127.0.0.1", () => {
			const address = server.address();
			server.close(() =>
				typeof address === "object" && address !== null
					? done(address.port)
					: fail(new Error("no port")),
			);
		});
	});
}
