/** What is said of the page of a run that is under way (`--watch`), and where a browser is to be opened. */
// biome-ignore format: a sentence is a line.
export const watch = {
	"watch-at": "Watch it at {url} until it ends; the page is the report so far.",
	"watch-over-ssh": "From where you are: ssh -N -L {port}:127.0.0.1:{port} <this machine>, then open the same address there.",
	"watch-strip": "What goes on now",
	"watch-below": "Below: the report of {runs:run} so far. What follows may change its verdict.",
	"watch-starting": "The first run has not begun.",
	"watch-sure": "Stop the command? This does what one Ctrl-C does: the current run ends, results so far are kept and reported, brokers are taken down.",
	"watch-stopped": "Stopped from the page, as by one Ctrl-C: results so far are kept.",
	"watch-stopping-already": "It is stopping already: results so far are kept.",
	"watch-port-number": "--watch-port {given}: is not a port; give a number from 1 to 65535",
	"watch-ended": "mqbench has ended without a report: {why}",
	"watch-over": "The run is over, but the connection broke before its report was here: open {file}.",
	"watch-left": "The run is over, and nobody serves this page any more: it stays as it is until you leave it. The same report: {file}",
	"opener-missing": "there is no {program} here to open a browser with",
	"opener-failed": "{program} could not open a browser",
	"open-by-hand": "--open: {why}; open {shown} yourself.",
	"open-nothing": "--open: there is no report to open: {shown} was not written.",
	"watch-needs-script": "The current seconds need JavaScript; the terminal shows the same.",
} as const;
