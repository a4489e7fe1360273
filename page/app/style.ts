/** The style of the page, in light and dark, and for print. */

/** CSS. */
export const STYLE = `
:root { color-scheme: light dark; --ground: #fff; --ink: #1b1f24; --faint: #59636e; --line: #c4cbd3; --panel: #f4f6f8;
  --bad: #a31515; --good: #00694c; --hand: #6a3d9a; --focus: #0062a3; }
@media screen and (prefers-color-scheme: dark) { :root:not([data-theme=light]) { --ground: #14181d; --ink: #eef1f4; --faint: #a9b4c0;
  --line: #434c56; --panel: #1d232a; --bad: #ff9a93; --good: #3fcf9f; --hand: #c8a6f0; --focus: #6cb8f0; } }
@media screen { :root[data-theme=dark] { color-scheme: dark; --ground: #14181d; --ink: #eef1f4; --faint: #a9b4c0;
  --line: #434c56; --panel: #1d232a; --bad: #ff9a93; --good: #3fcf9f; --hand: #c8a6f0; --focus: #6cb8f0; } }
:root[data-theme=light] { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.45 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
header, footer { padding: 10px 16px; }
h1, h2, dd button, ol.story, .answer, .steps .sentence, ol.runs { overflow-wrap: anywhere; } dd button { text-align: left; max-width:
  100%; }
h1 { font-size: 1.35rem; margin: 0 0 4px; }
h2 { font-size: 1.05rem; margin: 0 0 6px; }
header p, .answer p { margin: 4px 0; } .answer { padding: 0 16px 10px; } .verdict { margin: 0; font-size: 1.05rem; }
header:has(+ .answer) { padding-bottom: 0; } .toggle { display: flex; flex-wrap: wrap; gap: 6px; margin: 6px 0; }
button[aria-pressed=true] { border-color: var(--focus); box-shadow: inset 0 -3px var(--focus); font-weight: 600; }
#page.run { display: grid; grid-template: "head head" "answer answer" "steps tools" "main main" "foot foot" / auto minmax(0, 1fr); }
#page.run > header { grid-area: head; } .answer { grid-area: answer; } .steps { grid-area: steps; } #page.run > .tools { grid-area:
  tools; }
#page.run > main { grid-area: main; } #page.run > footer { grid-area: foot; }
.steps { display: flex; flex-wrap: wrap; align-items: start; gap: 8px; padding: 6px 4px 6px 16px; background: var(--panel);
  border-block: 1px solid var(--line); }
.steps .count { min-width: 4.6em; text-align: center; line-height: 30px; } .steps .sentence { display: none; }
button.main { font-weight: 600; } main.contents { display: block; padding: 0 16px; } ol.runs { padding: 0 0 0 1.6em; max-width: 60rem; }
ol.runs li { margin: 0 0 14px; } ol.runs p { margin: 2px 0; } ol.runs h2 { margin: 0; } a { color: var(--focus); }
#page > section:not([class]) { padding: 10px 16px; max-width: 60rem; } #page > section ol { padding-left: 2em; }
.verdict strong { color: var(--bad); } .verdict.safe strong { color: var(--good); }
.tools { display: flex; flex-wrap: wrap; gap: 6px 12px; align-items: center; padding: 6px 16px;
  border-block: 1px solid var(--line); background: var(--panel); }
button, select, input { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--faint);
  border-radius: 5px; padding: 3px 9px; min-height: 30px; }
button:disabled { color: var(--faint); border-style: dashed; cursor: not-allowed; }
select { max-width: 100%; } .tools label { max-width: 100%; }
.tools select { max-width: 17em; } .together { display: inline-flex; gap: 6px; }
.tools details[open] { flex-basis: 100%; } .tools .tools { padding: 0; border: 0; } summary { cursor: pointer; padding: 3px 0; }
input[type=checkbox] { min-height: 0; width: 18px; height: 18px; vertical-align: -3px; } input[type=search] { width: 10.5em; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 1px; }
main { display: grid; grid-template-columns: minmax(0, 1fr) minmax(270px, 25rem); }
.drawing { min-width: 0; border-right: 1px solid var(--line); }
.drawing canvas { display: block; width: 100%; touch-action: pan-y; } .map { border-bottom: 1px solid var(--line);
  cursor: pointer; }
.stage + .stage { border-top: 3px double var(--line); } .stage h2 { padding: 6px 12px 0; }
aside { padding: 10px 14px; min-width: 0; }
@media screen and (min-width: 901px) { aside.told { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; } }
ol.story { list-style: none; margin: 0 0 14px; padding: 0; }
aside section:has(dl) { position: sticky; bottom: 0; max-height: 45vh; overflow: auto; padding: 8px 0; background: var(--ground);
  border-top: 1px solid var(--line); }
ol.story button { display: flex; gap: 8px; line-height: 1.35; width: 100%;
  text-align: left; border: 0;
  border-left: 4px solid transparent; border-radius: 0; padding: 2px 6px; background: none; }
ol.story button[aria-current=true] { border-left-color: var(--focus); background: var(--panel); }
  ol.story button:hover { background: var(--panel); }
ol.story time { flex: 0 0 4.4em; color: var(--faint); text-align: right; font-variant-numeric: tabular-nums; }
ol.story button span:last-child { flex: 1; min-width: 0; } ol.story button.more { color: var(--focus); text-decoration: underline;
  padding-left: 8px; }
.number { flex: 0 0 1.65em; height: 1.65em; border: 1.5px solid var(--ink); border-radius: 1em; text-align: center; font-size: .82em;
  font-weight: 600;
  line-height: 1.5em; } .number.broken { border-color: var(--bad); color: var(--bad); }
.number.harmless { border-color: var(--hand); color: var(--hand); }
[aria-current=true] .number.harmless { background: var(--hand); color: var(--ground); }
[aria-current=true] .number { background: var(--ink); color: var(--ground); } [aria-current=true] .number.broken { background:
  var(--bad); }
.bad { color: var(--bad); font-weight: 600; } .harm { font-weight: 600; } .good { color: var(--good); } .hand { color: var(--hand); }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 10px; margin: 0; } dt { color: var(--faint); }
  dd { margin: 0; overflow-wrap: anywhere; }
dd code { font: 14px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; }
.keys { color: var(--faint); font-size: .9rem; } kbd { border: 1px solid var(--faint); border-radius: 3px; padding: 0 4px;
  white-space: nowrap;  font-size: .85em; }
@media (max-width: 900px) { main { grid-template-columns: minmax(0, 1fr); } .drawing { border-right: 0; }
  ol.story { max-height: none !important; } }
@media screen and (max-width: 900px) { #page.run { display: flex; flex-direction: column; } #page.run > main { display: contents; }
  #page.run > header { padding: 6px 12px; } #page.run h1 { font-size: 1.05rem; margin: 0; } .answer .verdict, .help { display: none; }
  #page.run .drawing { order: 1; } .answer { order: 3; padding: 10px 12px 0; } #page.run aside { order: 4; } #page.run > .tools {
  order: 5; }
  #page.run > footer { order: 6; }
  .steps { order: 2; position: sticky; bottom: 0; z-index: 1; display: grid; grid-template-columns: 1fr auto 1fr; padding: 8px 12px;
  background: var(--ground); }
  .steps .sentence { display: block; grid-column: 1 / -1; margin: 0; min-height: 4.3em; } .steps button { min-height: 48px; }
  .steps .count { line-height: 48px; } aside section:has(dl) { position: static; max-height: none; } }
@media print { :root { color-scheme: light !important; } .tools, .keys, .steps, .toggle, .drawing .map, li:has(> .more) { display:
  none; } main, #page.run { display: block !important; }
  ol.story li[hidden] { display: list-item; } .stage { break-inside: avoid; } h2 { break-after: avoid; }
  .drawing { border: 0; outline: 0 !important; }
  .drawing canvas { width: auto; height: auto !important; max-width: 100%; max-height: 70vh; }
  aside section:has(dl) { position: static; max-height: none; } ol.story li { break-inside: avoid; } header p button { display: none; } }
`;
