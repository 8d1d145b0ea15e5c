/** The script of a running command's page. Subtle: the window, with this script and its connection, outlives the overwritten document. */

const STARTED = "mqbenchWatches";
const QUESTION =
	"Stop the command? This does what one Ctrl-C does: the current run ends, results so far are kept and reported, brokers are taken down.";
if (!(STARTED in window)) {
	Object.assign(window, { [STARTED]: true });
	start();
}

// --- internal ---

function start(): void {
	/** The text for a connection that ends without the report, once the command is over. */
	let over: string | null = null;
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
	// `left` is shown below the final report, which is not served any more.
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
	// The browser reconnects by itself.
	source.addEventListener("error", () => {
		if (over !== null) {
			source.close();
			document.getElementById("stop")?.remove();
		}
		say(over ?? "Connection lost: mqbench cannot be reached.");
	});

	/** Stops the command after a question. Subtle: an overwritten document loses its listeners, so each new one needs this call. */
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

/** Replaces the page and keeps the scroll position. */
function become(html: string): void {
	const { scrollY } = window;
	document.open();
	document.write(html);
	document.close();
	scrollTo(0, scrollY);
}

/** Unchanged text is not set again, or a screen reader would repeat it. */
function say(text: string | null): void {
	const news = document.getElementById("news");
	if (news === null) return;
	news.hidden = text === null;
	if (news.textContent !== (text ?? "")) news.textContent = text ?? "";
}
