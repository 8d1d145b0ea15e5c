/** What draws a picture without a page, and how a picture looks at first: for `mqbench report --svg` in Node, and for the live page. */
export { firstView } from "../../report/charts/options.ts";
export { pictureOf } from "../../report/charts/picture.ts";
