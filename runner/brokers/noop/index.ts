import { noop } from "./options.ts";

export const room = { ...noop, process: null };
