import { type Piece, piecesOf, type Text } from "../../document/blocks.ts";

/** A text as it is written into a line. */
export function plainOf(text: Text): string {
	return piecesOf(text).map(plainPiece).join("").trim();
}

// --- internal ---

function plainPiece(piece: Piece): string {
	if (typeof piece === "string") return piece;
	switch (piece.kind) {
		case "aside":
		case "shares":
			return "";
		case "settings":
			return piece.entries.map(([key, value]) => `${key}=${value}`).join(", ");
		default:
			return piece.text;
	}
}
