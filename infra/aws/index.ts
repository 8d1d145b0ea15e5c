import { Config, type Output } from "@pulumi/pulumi";
import { parseConfig } from "./config.ts";
import type { RigOutput } from "./outputs.ts";
import { refusal } from "./refusal.ts";
import { Rig } from "./rig.ts";

const parsed = parseConfig(new Config("mqbench").getObject("rig"));
if ("wrong" in parsed) throw refusal(parsed.wrong.join("\n"));

/** The content of rig.json: `pulumi stack output rig --json > rig.json`. */
export const rig: Output<RigOutput> = new Rig(parsed.config).file;
