import { documentOf } from "../document/document.ts";
import type { Result } from "../model/result.ts";
import type { LivePart } from "../page/html-page.ts";
import { wordsOf } from "../page/pages.fake.ts";
import * as html from "./html.ts";
import * as markdown from "./markdown.ts";
import * as terminal from "./terminal.ts";

/** For tests: the reports of a result. */
export function renderHtml(result: Result, scenario: string | null = null, live?: LivePart) {
	return html.renderHtml(documentOf(result, scenario), live);
}

export function renderMarkdown(
	result: Result,
	options?: Parameters<typeof markdown.renderMarkdown>[1],
) {
	return markdown.renderMarkdown(documentOf(result), options);
}

export function renderTerminal(
	result: Result,
	{ folder, ...options }: terminal.TerminalOptions & { readonly folder: string },
) {
	return terminal.renderTerminal(documentOf(result), {
		report: `${folder}/report.html`,
		...options,
	});
}

/** For tests: a result as a terminal shows it. */
export function terminalOf(result: Result, columns = 100): string {
	return renderTerminal(result, { columns, colour: false, folder: "reports/x" });
}

/** For tests: the reports for people; `out` has all three. */
export function rendered(result: Result, columns = 100) {
	const text = terminalOf(result, columns);
	const markdown = renderMarkdown(result);
	const html = wordsOf(renderHtml(result));
	return { text, markdown, html, out: [text, markdown, html] };
}
