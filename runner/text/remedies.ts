/** What to do about what a check has found. */
export const remedies = {
	again: () => "make the run again",
	"report-bug": () => "report it, with this folder",
	"measure-longer": () => "measure for longer",
	"warm-up-fixed": () => "see why latency does not settle, or write a fixed warmup, e.g. 2min",
	"warm-up-longer": () => "warm up for longer, and measure for longer",
	"without-abort": () => "take abort off the SLA line to see a whole run",
	"see-k6": () => "see what k6 printed",
	"see-client": () =>
		"see why it broke off, and make the run again: its messages are missing from the load",
	"stay-awake": () => "keep the machine awake (systemd-inhibit npx mqbench ...), and measure again",
	"less-other-work": () => "measure again on a machine with less other work",
	"reach-client": () => "see why it could not be reached at the end, and measure again",
	"keep-clocks": () => "keep the clocks of all clients in step (chrony, or PTP), and measure again",
	"linux-clock": () => "measure on Linux, where /sys says which clock the kernel uses",
	"better-clock": () => "use a machine whose kernel trusts tsc, kvm-clock or arch_sys_counter",
	"clock-set-back": () => "see whether the machine's clock was set back meanwhile",
	"see-completions": () => "see why nothing completed",
	"free-machine": () =>
		"free the machine from other work, lower the rate, give it more cores, or run the broker elsewhere; mqbench doctor shows how punctually it wakes",
	"offer-less": () => "lower the rate, give the generator more cores, or use more clients",
	"see-in-flight": () => "see what became of those in flight: lost, failed, unknown, errors",
	"more-time": () => "give it more time (duration), or fewer messages",
	"larger-buffers": () =>
		"lower the rate, use more connections, or raise the library's buffers in the system's options",
	"faster-receivers": () =>
		"give the machine that receives more cores, use more connections or clients, or lower the rate",
	"see-disconnects": () => "see in the broker's log why it lost connections",
	"raise-quota": () =>
		"raise the broker's quota for this client, clear its memory or disk alarm, or lower the rate",
	"longer-drain": () => "see whether they are lost or late: measure with a longer drain",
	"see-broker": () => "see why the run broke: a longer drain brings nothing back",
	"add-lines": (d: { lines: readonly string[] }) => `add ${d.lines.join(" and ")} to the SLA`,
	"fix-faults": () => "fix what it names, and measure again",
	"lower-rate": () => "find the rate that it carries: lower the rate until the queue stays level",
	"see-consumers": () =>
		"see what consumers wait for, or give the drain a longer part of the window",
	"measure-floor": (d: { broker: string }) =>
		`measure the floor of the generator as well, with ${d.broker} at the same rate`,
	"measure-ceiling": (d: { broker: string }) =>
		`measure the ceiling of the generator as well, with ${d.broker} and as many messages`,
	"stop-others": () => "stop what else runs on the machine",
	"stop-others-again": (d: { brokerHost: boolean }) =>
		`stop what else runs on ${d.brokerHost ? "it" : "the machine"}, and measure again`,
	"faster-floor": () =>
		"raise the limit, lower the rate, or use a faster machine: no system can keep this limit here",
	"larger-differences": () => "compare systems by larger differences only, or use a faster machine",
	"more-cpu": () => "give the container or job more CPU, or no limit",
	"dedicated-cores": () => "use a machine with dedicated cores, or measure again at a quieter time",
	"read-proc": () => "measure on Linux, where /proc and the control group can be read",
	"read-cpu": () => "measure on Linux or macOS, for a second at least",
	"room-for-both": () =>
		"stop what else runs there, give it more cores, run generator and broker on machines of their own, or lower the rate",
	"more-cores": () => "give it more cores, or lower the rate",
	"a-second-at-least": () => "measure for a second at least",
	"smaller-messages": () => "send smaller messages, or fewer of them",
};
