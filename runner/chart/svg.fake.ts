/** For tests: the texts of a picture, with the boxes that they take. */

interface TextBox {
	readonly text: string;
	readonly left: number;
	readonly right: number;
	readonly top: number;
	readonly bottom: number;
}

/** Letters are as wide as Helvetica's, about. */
export function textsOf(svg: string): TextBox[] {
	return [...svg.matchAll(/<text ([^>]*)>([^<]*)<\/text>/g)].map(
		([, attributes = "", escaped = ""]) => {
			const of = (name: string) => new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1];
			const text = escaped
				.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
				.replaceAll("&lt;", "<")
				.replaceAll("&gt;", ">")
				.replaceAll("&quot;", '"')
				.replaceAll("&amp;", "&")
				.trimEnd();
			const size = Number(/(\d+(?:\.\d+)?)px/.exec(of("style") ?? "")?.[1]);
			const [dx = 0, dy = 0] = (/translate\(([^)]*)\)/.exec(of("transform") ?? "")?.[1] ?? "0 0")
				.split(/[ ,]+/)
				.map(Number);
			const x = Number(of("x") ?? 0) + dx;
			const y = Number(of("y") ?? 0) + dy;
			const width = size * [...text].reduce((sum, letter) => sum + widthOf(letter), 0);
			const anchor = of("text-anchor") ?? "start";
			const left = anchor === "end" ? x - width : anchor === "middle" ? x - width / 2 : x;
			const middle = of("dominant-baseline") === "central" ? y : y - size * 0.35;
			return {
				text,
				left,
				right: left + width,
				top: middle - size * 0.4,
				bottom: middle + size * 0.4,
			};
		},
	);
}

/** Pairs of texts that lie over each other. */
export function overlaps(texts: readonly TextBox[]): [string, string][] {
	return texts.flatMap((a, i) =>
		texts
			.slice(i + 1)
			.filter(
				(b) =>
					a.left < b.right - 1 &&
					b.left < a.right - 1 &&
					a.top < b.bottom - 1 &&
					b.top < a.bottom - 1,
			)
			.map((b): [string, string] => [a.text, b.text]),
	);
}

/** As a part of the font's size. */
function widthOf(letter: string): number {
	if (/[ijl|'!,.:;[\]()/\\ ftIr-]/.test(letter)) return 0.29;
	if (/[mwMW@%]/.test(letter)) return 0.85;
	if (/[`*"]/.test(letter)) return 0.38;
	if (/[A-Z&]/.test(letter)) return 0.66;
	return /[\u0020-\u024f]/.test(letter) ? 0.54 : 1;
}
