import { spawn } from "node:child_process";

/** Processes of this machine to sample, each with all of its children. Empty if they are not ours, or not all on this machine. */
interface Sampled {
	readonly generator: readonly number[];
	readonly broker: readonly number[];
}

/** Appends a sample now and every so many seconds until stopped. Asks `sampled` each time, because a run's clients start one by one. */
export function sampleResources(
	agent: string,
	file: string,
	seconds: number,
	sampled: () => Sampled,
) {
	// In its own process group, so the terminal's Ctrl-C does not reach it. It ends with its standard input, even if mqbench is killed.
	const child = spawn(agent, ["sample", file], {
		env: {},
		stdio: ["pipe", "ignore", "ignore"],
		detached: true,
	});
	const ended = new Promise((resolve) => child.once("error", resolve).once("exit", resolve));
	// If the disk is full, the run itself reports it. Missing samples are unknown, not wrong.
	child.stdin.on("error", () => {});
	const sample = () => void child.stdin.write(`${JSON.stringify(sampled())}\n`);
	sample();
	const timer = setInterval(sample, seconds * 1000);
	return {
		sample,
		async stop() {
			clearInterval(timer);
			sample();
			child.stdin.end();
			await ended;
		},
	};
}
