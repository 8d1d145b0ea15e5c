import { buildResult } from "../compare/build.ts";
import { documentOf } from "../document/document.ts";
import { readGiven } from "../given-folder.ts";
import type { Plan } from "../model/plan.ts";
import { renderPage } from "../page/html-page.ts";
import { markup } from "../page/markup.ts";
import { renderHtml } from "../render/html.ts";
import { type Judged, judgedSoFar } from "../result/result.ts";
import { runPath } from "../run/folder.ts";
import { type LiveRun, liveRows } from "../run/live.ts";
import { type ProgressListener, titleOf } from "../run/progress.ts";
import { hide, maskAll, maskUrls } from "../secrets.ts";
import { livePart, type Strip, stripMarkup } from "./strip.ts";

/** Follows a command and makes its page. It never fails, because it must not end a measurement. */
export interface Feed extends ProgressListener {
	expect(folder: string, plans: readonly Plan[]): void;
	/** The runs are over and their files written: the page becomes the report so far. */
	made(plans: readonly Plan[]): void;
	page(): string;
}

interface FeedOptions {
	readonly scenario: string;
	readonly shown: string;
	readonly secrets: readonly string[];
	readonly publish: (event: "strip" | "page", data: unknown) => void;
}

export function makeFeed({ scenario, shown, secrets, publish }: FeedOptions): Feed {
	const mask = (text: string) => maskUrls(hide(text, secrets));
	let strip: Strip = { title: "", doing: "", rows: [], over: 0 };
	let version = 0;
	let plans: readonly Plan[] = [];
	let folder = "";
	let report: string | null = null;
	const judged: Judged[] = [];
	const show = (news: Partial<Strip>) => {
		strip = { ...strip, ...maskAll(news, mask) };
		publish("strip", stripMarkup(strip).text);
	};
	const planned = () =>
		renderPage({
			title: mask(`${scenario} - mqbench`),
			header: markup`<div class="head"><h1>${mask(scenario)}</h1></div><p class="soft">Results: ${mask(shown)}</p>`,
			main: markup`<section id="plan"><h2>Runs</h2><ol>${plans.map((plan) => markup`<li>${mask(titleOf(plan))}</li>`)}</ol></section>`,
			figures: [],
			live: livePart(version),
		});
	const page = () => report ?? planned();
	const renew = () => publish("page", { version, html: page() });
	return {
		page,
		say: (text) => show({ doing: text.trim() }),
		begin: (title) => show({ title, doing: "", rows: [] }),
		second: (live: LiveRun) => show({ rows: liveRows(live) }),
		expect(where, more) {
			folder = where;
			plans = [...plans, ...more];
			if (report !== null) return;
			version++;
			renew();
		},
		made(runs) {
			try {
				for (const plan of runs) judged.push(judgedSoFar(folder, runPath(folder, plan)));
				if (judged.length === 0) return;
				const text = readGiven(`${folder}/scenario.yaml`);
				report = renderHtml(documentOf(buildResult(folder, judged), text), livePart(version + 1));
				version++;
				renew();
				show({ over: judged.length });
			} catch {
				// The final report names the file that cannot be read, and the reason.
			}
		},
	};
}
