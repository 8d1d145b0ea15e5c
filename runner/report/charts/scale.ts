/** A value axis from bottom to top. ECharts draws numbers of its own: `to` gives them, logarithms where the axis has those. */
export interface Scale {
	readonly to: (value: number) => number;
	readonly min: number;
	readonly max: number;
	/** Values with a label, ascending; in the axis' own unit, not in ECharts'. */
	readonly ticks: readonly number[];
	readonly logarithmic: boolean;
}

/** Logarithmic as it is wanted; null: when the values span more than a factor of 20. About `parts` ticks. */
export function scaleOf(
	values: readonly number[],
	logarithmic: boolean | null,
	parts: number,
): Scale {
	const high = Math.max(0, ...values);
	const low = Math.min(high, ...values.filter((v) => v > 0));
	if (high <= 0) return linear(1, parts);
	return (logarithmic ?? high / low > 20)
		? logarithm(low, high, parts)
		: linear(high, parts);
}

/** The same with `pixels` of room above the values, on an axis that is `height` high. */
export function raised(scale: Scale, height: number, pixels: number): Scale {
	const part = pixels / Math.max(pixels * 2, height);
	const more = ((scale.max - scale.min) * part) / (1 - part);
	return { ...scale, max: scale.max + more };
}

/** The same with room below the values. */
export function lowered(scale: Scale, height: number, pixels: number): Scale {
	const more = raised(scale, height, pixels).max - scale.max;
	return { ...scale, min: scale.min - more };
}

/** Round numbers from `from` to `to`, about `parts` of them. */
export function roundTicks(from: number, to: number, parts: number): number[] {
	const step = roundStep(Math.max((to - from) / Math.max(1, parts), 1e-9));
	const ticks: number[] = [];
	for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; i++)
		ticks.push(Number((i * step).toPrecision(12)));
	return ticks;
}

/** 1, 2 or 5 times a power of ten, not below `step`. */
export function roundStep(step: number): number {
	const power = 10 ** Math.floor(Math.log10(step));
	return (
		power * ([1, 2, 5, 10].find((digit) => digit * power >= step - 1e-9) ?? 10)
	);
}

// --- internal ---

function linear(high: number, parts: number): Scale {
	const step = roundStep(high / parts);
	const max = Math.ceil((high * 1.02) / step - 1e-9) * step;
	return {
		to: (v) => v,
		min: 0,
		max,
		ticks: roundTicks(0, max, Math.round(max / step)),
		logarithmic: false,
	};
}

/** Values of 0 stand at the bottom. */
function logarithm(low: number, high: number, parts: number): Scale {
	const min = Math.floor(Math.log10(low) * 10 - 0.5) / 10;
	const max = Math.ceil(Math.log10(high) * 10 + 0.5) / 10;
	const ticksOf = (digits: readonly number[], every: number) => {
		const ticks: number[] = [];
		for (let e = Math.floor(min); e <= max; e++)
			for (const digit of e % every === 0 ? digits : []) {
				const tick = Number(`${digit}e${e}`);
				if (Math.log10(tick) >= min && Math.log10(tick) <= max)
					ticks.push(tick);
			}
		return ticks;
	};
	const most = Math.max(2, parts * 1.6);
	const choices = [
		ticksOf([1, 2, 5], 1),
		ticksOf([1, 3], 1),
		ticksOf([1], 1),
		ticksOf([1], 2),
		ticksOf([1], 3),
	];
	const ticks =
		choices.find((list) => list.length <= most) ?? (choices.at(-1) as number[]);
	return {
		to: (v) => Math.max(v > 0 ? Math.log10(v) : min, min),
		min,
		max,
		ticks,
		logarithmic: true,
	};
}
