/** What is said of the page of a run that is under way (`--watch`), and where a browser is to be opened. */
// biome-ignore format: a sentence is a line.
export const watch = {
	"watch-at": "Watch it at {url} until it ends; the page then turns into the report.",
	"watch-over-ssh": "From where you are: ssh -N -L {port}:127.0.0.1:{port} <this machine>, then open the same address there.",
	"watch-stopped": "Stopped from the page, as by one Ctrl-C: results so far are kept.",
	"watch-stopping-already": "It is stopping already: results so far are kept.",
	"watch-fault": "Fault: {what}",
	"watch-fault-now": "{fault} is in effect",
	"watch-port-number": "--watch-port {given}: is not a port; give a number from 1 to 65535",
	"watch-ended": "mqbench has ended without a report: {why}",
	"watch-over": "The run is over, but the connection broke before its report was here: open {file}.",
	"watch-left": "The run is over, and nobody serves this page any more: it stays as it is until you leave it. The same report: {file}",
	"opener-missing": "there is no {program} here to open a browser with",
	"opener-failed": "{program} could not open a browser",
	"open-by-hand": "--open: {why}; open {shown} yourself.",
	"open-nothing": "--open: there is no report to open: {shown} was not written.",
	"watch-sure": "Stop the command? It does what one Ctrl-C does: the run that is under way ends, results so far are kept and reported, brokers are taken down.",
	"watch-needs-script": "This page fills while the run goes on, and needs JavaScript for it; the terminal shows the same.",
} as const;
