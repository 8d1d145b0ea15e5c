/**
 * Kubernetes' quantities ("250m", "1.5", "128Mi", "16G", "1e3") as a number of cores or bytes; null: none. Source: apimachinery's
 * pkg/api/resource, the serialization of Quantity.
 */
export function quantityOf(text: string | number | undefined): number | null {
	const [, number, suffix = ""] =
		/^([+-]?\d+(?:\.\d*)?|[+-]?\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/.exec(
			String(text ?? ""),
		) ?? [];
	if (number === undefined) return null;
	const power = /^[eE]([+-]?\d+)$/.exec(suffix)?.[1];
	return Number(number) * (power === undefined ? (FACTORS[suffix] ?? 1) : 10 ** Number(power));
}

// --- internal ---

const FACTORS: Readonly<Record<string, number>> = {
	n: 1e-9,
	u: 1e-6,
	m: 1e-3,
	k: 1e3,
	M: 1e6,
	G: 1e9,
	T: 1e12,
	P: 1e15,
	E: 1e18,
	Ki: 2 ** 10,
	Mi: 2 ** 20,
	Gi: 2 ** 30,
	Ti: 2 ** 40,
	Pi: 2 ** 50,
	Ei: 2 ** 60,
};
