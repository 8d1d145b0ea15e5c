/**
 * The script of a page that would be too large: its own script and the figures' data stand in it compressed, and this brings
 * both back as they are in a smaller page. The policy names both scripts by their hash.
 */
export const UNPACK = `(async () => {
const unpacked = (name) => {
const text = document.querySelector('[data-packed="' + name + '"]').textContent;
const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
};
const add = (text, type, of) => {
const script = document.createElement("script");
if (type) script.type = type;
if (of) script.dataset.of = of;
script.textContent = text;
document.body.append(script);
};
for (const figure of JSON.parse(await unpacked("figures")))
add(JSON.stringify(figure), "application/json", figure.id);
add(await unpacked("later"), "application/json", "later");
add(await unpacked("script"));
})();`;
