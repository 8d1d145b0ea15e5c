import { programFolder } from "../sdk.ts";

/** The Pulumi project of AWS: infra/aws. */
export const awsFolder: string = programFolder("aws");
