import type { NodeProcess, Place, TakeLine } from "./place.ts";

/** For tests: a place whose node is ready at once, and 50 ms after later starts; `signalled` is false if a signal reaches nothing. */
export function fakePlace(
	signalled: (name: string) => boolean = () => true,
	started: NodeProcess[] = [],
): Place {
	let readyMs = 0;
	return {
		host: null,
		signals: true,
		async prepare() {},
		async close() {},
		async start(_: unknown, take: TakeLine) {
			let tellEnd = () => {};
			const ended = new Promise<void>((resolve) => {
				tellEnd = resolve;
			}).then(() => ({ how: "SIGKILL", well: false, lost: false }));
			setTimeout(() => take("ready"), readyMs);
			readyMs = 50;
			const node: NodeProcess = {
				ended,
				pid: async () => null,
				async signal(name) {
					if (!signalled(name)) return 0;
					if (name === "KILL") tellEnd();
					return 1;
				},
				end: async () => tellEnd(),
			};
			started.push(node);
			return node;
		},
	};
}
