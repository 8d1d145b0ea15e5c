import type { Result } from "../model/result.ts";
import { wordsOf } from "../page/pages.fake.ts";
import { renderHtml } from "./html.ts";
import { renderMarkdown } from "./markdown.ts";
import { renderTerminal } from "./terminal.ts";

/** For tests: a result as a terminal shows it. */
export function terminalOf(result: Result, columns = 100): string {
	return renderTerminal(result, { columns, colour: false, folder: "reports/x" });
}

/** For tests: the reports that people read; `out` has all three. */
export function rendered(result: Result, columns = 100) {
	const text = terminalOf(result, columns);
	const markdown = renderMarkdown(result);
	const html = wordsOf(renderHtml(result));
	return { text, markdown, html, out: [text, markdown, html] };
}
