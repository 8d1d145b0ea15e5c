/** For tests: milliseconds of CPU used by `work`; on a busy machine the elapsed time shows nothing. */
export function cpuMs(work: () => unknown): number {
	const before = process.cpuUsage();
	work();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1000;
}
