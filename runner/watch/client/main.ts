import { themeSwitch } from "../../report/page/client/theme.ts";
import { after, type WatchEvent, type WatchState } from "../state.ts";
import { drawAgain } from "./draw.ts";
import { show } from "./show.ts";
import { handOver, stopButton } from "./stop.ts";

/** The script of the page: it connects, and shows the state whenever it changes and somebody looks. */

let state: WatchState | null = null;
let lost = false;
let waiting = false;
/** What is to be said if the report, which is under way, does not arrive; null: the command goes on. */
let over: string | null = null;

themeSwitch(drawAgain);
addEventListener("resize", drawAgain);
stopButton();

const source = new EventSource("events");
const on = <Data>(event: string, act: (data: Data) => void) =>
	source.addEventListener(event, ({ data }) => act(JSON.parse(data)));
on<WatchState>("snapshot", (whole) => {
	state = whole;
	lost = false;
	soon();
});
on<WatchEvent>("event", (event) => {
	if (state !== null) state = after(state, event);
	soon();
});
on<string>("over", (text) => {
	over = text;
});
on<{ html: string; left: string }>("report", (report) => {
	source.close();
	handOver(report);
});
// It asks again by itself.
source.addEventListener("error", () => {
	if (state !== null && over !== null) state = after(state, { kind: "end", text: over });
	if (state?.end != null) source.close();
	lost = true;
	soon();
});

// --- internal ---

/** Not while nobody looks: a page in the background costs nothing. */
function soon(): void {
	if (waiting) return;
	waiting = true;
	requestAnimationFrame(() => {
		waiting = false;
		if (state !== null) show(state, lost);
	});
}
