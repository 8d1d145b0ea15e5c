import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface NatsServer {
	readonly url: string;
	readonly child: ChildProcess;
}

/** A NATS server that is not mqbench's, on loopback, and on a free port unless told another. Whoever starts it kills it. */
export function startNats(
	program: string,
	args: readonly string[] = [],
	port = -1,
	/** Where it listens: it counts more than what its configuration says. */
	address: readonly string[] = ["-a", "127.0.0.1"],
): Promise<NatsServer> {
	const child = spawn(program, [...address, "-p", `${port}`, ...args], {
		stdio: ["ignore", "ignore", "pipe"],
	});
	return new Promise((resolve, reject) => {
		child.once("error", reject);
		let url = "";
		const words: string[] = [];
		createInterface({ input: child.stderr }).on("line", (line) => {
			words.push(line);
			const at = /Listening for client connections on (\S+)$/.exec(line)?.[1];
			if (at !== undefined) url = `nats://${at}`;
			if (/\] Server is ready$/.test(line)) resolve({ url, child });
		});
		child.once("exit", () => reject(new Error(words.join("\n"))));
	});
}
