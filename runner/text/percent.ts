/** "2 %", "0.35 %" */
export function percent(share: number): string {
	return `${Number((share * 100).toPrecision(2))} %`;
}
