import { z } from "zod";

export const PATTERNS = [
	"round-trip",
	"request-reply",
	"fan-out",
	"work-queue",
	"publish",
	"backlog",
] as const;
export const Pattern = z.enum(PATTERNS);
export type Pattern = z.infer<typeof Pattern>;
