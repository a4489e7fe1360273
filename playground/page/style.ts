/** The style of the playground: that of timelines, and its controls. */
import { STYLE as TIMELINE } from '../../page/app/style.ts';

/** CSS. The button that stops a run appears late: most runs are over before. */
export const STYLE = `${TIMELINE}
.tools + .tools { border-top: 0; } input[type=range] { flex: 1 1 12em; min-width: 8em; padding: 0; }
input[type=number] { width: 6.5em; } output { min-width: 5.5em; font-variant-numeric: tabular-nums; }
button.main { font-weight: 600; min-width: 5.5em; } button[aria-pressed=true] { border-color: var(--focus);
  box-shadow: inset 0 -3px var(--focus); font-weight: 600; } .party { font-variant-caps: normal; }
ul.steps { display: flex; flex-wrap: wrap; gap: 6px; list-style: none; margin: 0; padding: 6px 16px; }
ul.steps:empty { display: none; } ul.steps li { border: 1px solid var(--line); border-radius: 5px; padding: 1px 2px 1px 8px; }
ul.steps li:has(em) { border-style: dashed; } ul.steps em { color: var(--bad); }
ul.steps button { border: 0; min-height: 24px; padding: 0 8px; }
textarea { width: 100%; min-height: 22em; font: 14px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; color: inherit;
  background: var(--panel); border: 1px solid var(--faint); border-radius: 5px; padding: 8px; tab-size: 2; }
.tools select { max-width: 100%; } aside summary { font-weight: 600; } [hidden] { display: none !important; }
[data-state=failed] .drawing { opacity: .35; }
[data-state=busy] .verdict button { animation: late 1s step-end; } @keyframes late { from { visibility: hidden; } }
.verdict { min-height: 1.5em; }
.verdict.one strong { color: var(--faint); } ol.story { max-height: 40vh; overflow: auto; } .hash { overflow-wrap: anywhere; }
`;
