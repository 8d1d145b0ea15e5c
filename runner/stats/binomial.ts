/** Works for real n and t too, because clustering divides both by phi (reports/METHOD.md, "Is "p99 < 20ms" met?"). */

/** P(Bin(n, p) <= t) = I_{1-p}(n - t, t + 1); 1 for t >= n, 0 for t < 0. */
export function binomialAtMost(t: number, n: number, p: number): number {
	if (t < 0) return 0;
	if (t >= n) return 1;
	return incompleteBeta(1 - p, n - t, t + 1);
}

/** I_x(a, b), regularised incomplete beta: continued fraction DLMF 8.17.22 by Lentz's method, on its fast side of the mean. */
export function incompleteBeta(x: number, a: number, b: number): number {
	if (!(a > 0 && b > 0)) throw new RangeError(`incompleteBeta a=${a} b=${b}`);
	if (x <= 0) return 0;
	if (x >= 1) return 1;
	const front = Math.exp(
		lgamma(a + b) - lgamma(a) - lgamma(b) + a * Math.log(x) + b * Math.log1p(-x),
	);
	return x < (a + 1) / (a + b + 2)
		? (front * continuedFraction(x, a, b)) / a
		: 1 - (front * continuedFraction(1 - x, b, a)) / b;
}

/** ln(gamma(x)) for x > 0 to a relative 1e-14: Lanczos with g = 7 below 10, Stirling's series above (DLMF 5.11.1). */
export function lgamma(x: number): number {
	if (x < 10) {
		let sum = LANCZOS[0] ?? 0;
		for (let i = 1; i < LANCZOS.length; i++) sum += (LANCZOS[i] ?? 0) / (x - 1 + i);
		const t = x + 6.5;
		return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
	}
	const r = 1 / (x * x);
	const series = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r / 1188)))) / x;
	return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series;
}

// --- internal ---

const LANCZOS = [
	0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
	-176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
	1.5056327351493116e-7,
];

/** Needs about sqrt(max(a, b)) steps: enough for 1e10 messages. */
const STEPS = 100_000;
const TINY = 1e-300;

function continuedFraction(x: number, a: number, b: number): number {
	const away = (v: number) => (Math.abs(v) < TINY ? TINY : v);
	let c = 1;
	let d = 1 / away(1 - ((a + b) * x) / (a + 1));
	let h = d;
	for (let m = 1; m <= STEPS; m++) {
		const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 / away(1 + even * d);
		c = away(1 + even / c);
		h *= d * c;
		const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / away(1 + odd * d);
		c = away(1 + odd / c);
		const step = d * c;
		h *= step;
		if (Math.abs(step - 1) < 1e-13) return h;
	}
	throw new Error(`incompleteBeta(${x}, ${a}, ${b}) does not converge`);
}
