import { element, place } from "./elements.ts";

/** The button that stops the command, after a question. What comes of it is told by the server, and is in the log. */
export function stopButton(): void {
	const sure = place<HTMLDialogElement>("sure");
	place("stop").addEventListener("click", () => sure.showModal());
	place("no").addEventListener("click", () => sure.close());
	place("yes").addEventListener("click", async () => {
		sure.close();
		const news = place("news");
		news.hidden = false;
		try {
			const answer = await fetch("stop", { method: "POST" });
			news.textContent = answer.ok ? await answer.text() : `Not stopped: ${answer.status}`;
		} catch {
			news.textContent = "Not stopped: mqbench cannot be reached.";
		}
	});
}

/** The page becomes the report; `left` says that nobody serves it any more. */
export function handOver({ html, left }: { readonly html: string; readonly left: string }): void {
	const theme = document.documentElement.dataset.theme;
	document.open();
	document.write(html);
	document.close();
	if (theme !== undefined) document.documentElement.dataset.theme = theme;
	const note = element("p", "soft", left);
	note.setAttribute("role", "status");
	document.querySelector("header")?.append(note);
}
