import { WEAK_MEANS } from "../words.ts";
import { type Markup, markup } from "./markup.ts";

/** The words of the page, for who sees them for the first time. */
export function howToRead(): Markup {
	return markup`<section id="reading"><div class="head"><h2>How to read this</h2></div>
<p><b>Response</b> counts from the time at which the schedule meant a message to be sent, so a stall also delays those that had to wait for it. <b>Service</b> counts from the actual send. <b>Lag</b> is the generator's own lateness, <b>queued</b> what earlier blocking explains: response = queued + lag + service.</p>
<p>A message that failed, was lost or never offered counts as slower than every limit. <b>~</b> before a value: ${WEAK_MEANS}. <b>n/a</b>: too few samples for this percentile, or nothing was measured. In brackets: the interval that holds the true percentile with 95 % confidence.</p>
<p><b>INCONCLUSIVE</b>: the samples decide neither way. <b>INVALID</b>: the generator or the machine decided the result, not the system. Formulas: reports/README.md; <code>mqbench explain response</code>, <code>support</code> or <code>invalid</code>.</p></section>`;
}
