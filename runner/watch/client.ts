/**
 * The script of the page of a command that is under way: it shows the current seconds, and puts the newer page in place of this one when a run
 * has ended. Subtle: the window, and with it this script and its connection, outlives the document that is written over.
 */

const STARTED = "mqbenchWatches";
const QUESTION =
	"Stop the command? This does what one Ctrl-C does: the current run ends, results so far are kept and reported, brokers are taken down.";
if (!(STARTED in window)) {
	Object.assign(window, { [STARTED]: true });
	start();
}

// --- internal ---

function start(): void {
	/** What is to be said when the connection ends and the report, which is under way, has not arrived; null: the command goes on. */
	let over: string | null = null;
	/** What the server said to who pressed Stop; null: nobody has. */
	let stopped: string | null = null;
	stopButton();
	const source = new EventSource("events");
	const on = <Data>(event: string, act: (data: Data) => void) =>
		source.addEventListener(event, ({ data }) => act(JSON.parse(data)));
	on<string>("strip", (html) => {
		say(stopped);
		const strip = document.getElementById("strip");
		if (strip !== null) strip.innerHTML = html;
	});
	on<string>("over", (text) => {
		over = text;
	});
	// `left` is said below the whole report, which nobody serves any more.
	on<{ version: number; html: string; left?: string }>("page", ({ version, html, left }) => {
		if (`${version}` === document.getElementById("live")?.dataset.version) return;
		const strip = document.getElementById("strip")?.innerHTML ?? "";
		become(html);
		const place = document.getElementById("strip");
		if (place !== null) place.innerHTML = strip;
		stopButton();
		if (left === undefined) return;
		source.close();
		const note = document.createElement("p");
		note.className = "soft";
		note.setAttribute("role", "status");
		note.textContent = left;
		document.querySelector("header")?.append(note);
	});
	// A connection that is lost is asked for again by itself.
	source.addEventListener("error", () => {
		if (over !== null) {
			source.close();
			document.getElementById("stop")?.remove();
		}
		say(over ?? "Connection lost: mqbench cannot be reached.");
	});

	/** Stops the command after a question. Subtle: a document that is written over loses its listeners, so each gets them anew. */
	function stopButton(): void {
		const button = document.getElementById("stop");
		button?.removeAttribute("hidden");
		button?.addEventListener("click", async () => {
			if (!confirm(QUESTION)) return;
			const answer = await fetch("stop", { method: "POST" }).catch(() => null);
			if (answer?.ok) stopped = await answer.text();
			say(stopped ?? `Not stopped: ${answer?.status ?? "mqbench cannot be reached."}`);
		});
	}
}

/** Another page takes the place of this one, where its reader has scrolled to. */
function become(html: string): void {
	const { scrollY } = window;
	document.open();
	document.write(html);
	document.close();
	scrollTo(0, scrollY);
}

/** What is unchanged is not said again by who reads the page aloud. */
function say(text: string | null): void {
	const news = document.getElementById("news");
	if (news === null) return;
	news.hidden = text === null;
	if (news.textContent !== (text ?? "")) news.textContent = text ?? "";
}
