/** The controls above the drawing: runs, comparison, filters, search, zoom, appearance and export. */

import type { Shown } from '../drawing/view.ts';
import type { MessageKind, Timeline } from '../format.ts';
import { readable } from '../text.ts';
import { button, choice, element } from './elements.ts';

/** What the controls do. */
export interface ToolActions {
  /** Shows the list of all runs. */
  list(): void;
  show(run: number): void;
  compare(run: number | undefined): void;
  filter(filter: Shown): void;
  /** Searches; returns what to say about it. */
  search(text: string): string;
  /** Goes to another place at which the text was found; returns which one it is. */
  found(by: 1 | -1): string;
  expert(isExpert: boolean): void;
  /** Draws all times to scale, or leaves out those in which nothing happens. */
  scale(isLinear: boolean): void;
  breach(): void;
  zoom(factor: number): void;
  whole(): void;
  theme(): void;
  copy(): Promise<boolean>;
  save(kind: 'svg' | 'png'): void;
}

const KINDS: readonly (readonly [text: string, kinds: readonly MessageKind[]])[] = [
  ['requests', ['request', 'reply']],
  ['replication', ['stream', 'ack']],
  ['upkeep', ['service']],
];

/** What the controls show at first. */
export interface ToolState {
  /** True when the run has a broken promise to go to, or two holders. */
  readonly hasBreak: boolean;
  /** True when the reader has chosen it for an earlier run. */
  readonly isExpert: boolean;
  /** True when no time is left out. */
  readonly isLinear: boolean;
  readonly filter: Shown;
}

/** The controls for a run. */
export function toolsFor(
  runs: readonly Timeline[],
  shown: number,
  state: ToolState,
  actions: ToolActions,
): HTMLElement {
  const run = runs[shown] as Timeline;
  const bar = element('section', { class: 'tools', 'aria-label': 'Controls' });
  const isHarmless = run.verdict?.safe === true;
  if (state.hasBreak)
    bar.append(button(isHarmless ? 'To the two holders' : 'To the broken promise', actions.breach));
  bar.append(
    together(
      button('\u2212', () => actions.zoom(1.5), { 'aria-label': 'Zoom out' }),
      button('+', () => actions.zoom(1 / 1.5), { 'aria-label': 'Zoom in' }),
      button('Whole run', actions.whole),
    ),
  );
  const more = element('div', { class: 'tools' });
  if (runs.length > 1) addRuns(more, runs, shown, actions);
  addFilters(more, run, state, actions);
  addSearch(bar, actions);
  const copied = element('span', { role: 'status' });
  const copy = button('Copy as Markdown', () => {
    void actions.copy().then((done) => {
      copied.textContent = done ? 'Copied.' : 'The browser does not allow it.';
    });
  });
  more.append(
    button('Dark or light', actions.theme),
    copy,
    copied,
    together(
      button('SVG', () => actions.save('svg')),
      button('PNG', () => actions.save('png')),
      button('Print', () => window.print()),
    ),
  );
  bar.append(element('details', {}, element('summary', {}, 'Filter, compare, save'), more));
  return bar;
}

function addRuns(bar: HTMLElement, runs: readonly Timeline[], shown: number, actions: ToolActions): void {
  const options = runs.map(({ title }, i) => [String(i), title] as const);
  const others = [['', 'nothing'] as const, ...options.filter(([value]) => value !== String(shown))];
  bar.append(
    choice('Run', options, (value) => actions.show(Number(value)), String(shown)),
    choice('Compare with', others, (value) => actions.compare(value === '' ? undefined : Number(value))),
    button('All runs', actions.list),
  );
}

/** Controls that stay on one line. */
function together(...controls: readonly Node[]): HTMLElement {
  return element('span', { class: 'together' }, ...controls);
}

function addFilters(bar: HTMLElement, run: Timeline, state: ToolState, actions: ToolActions): void {
  let { filter } = state;
  const change = (part: Partial<Shown>): void => {
    filter = { ...filter, ...part };
    actions.filter(filter);
  };
  for (const [text, kinds] of KINDS) {
    const box = element('input', { type: 'checkbox' });
    box.checked = kinds.every((kind) => filter.kinds.has(kind));
    box.addEventListener('change', () => {
      const rest = [...filter.kinds].filter((kind) => !kinds.includes(kind));
      change({ kinds: new Set(box.checked ? [...rest, ...kinds] : rest) });
    });
    const title = text === 'upkeep' ? { title: 'What connections and nodes do by themselves' } : {};
    bar.append(element('label', title, box, ` ${text}`));
  }
  bar.append(
    checkbox('repeats', filter.repeats, (repeats) => change({ repeats })),
    checkbox('time to scale', state.isLinear, actions.scale, 'No time is left out'),
    checkbox(
      'expert',
      state.isExpert,
      actions.expert,
      'Next goes from message to message, and details show bytes',
    ),
  );
  const keys = [...new Set([...run.holds, ...run.keys].map(({ key }) => key))];
  const all = (names: readonly string[]): (readonly [string, string])[] => [
    ['', 'all'],
    ...names.map((name) => [name, readable(name)] as const),
  ];
  const lanes = run.lanes.map(({ name }) => name);
  if (keys.length > 0) bar.append(choice('Lock or key', all(keys), (key) => change({ key }), filter.key));
  bar.append(choice('Client or node', all(lanes), (party) => change({ party }), filter.party));
}

/** A box to tick. @param title says more about it */
function checkbox(
  label: string,
  isChecked: boolean,
  changed: (isChecked: boolean) => void,
  title?: string,
): HTMLLabelElement {
  const box = element('input', { type: 'checkbox' });
  box.checked = isChecked;
  box.addEventListener('change', () => changed(box.checked));
  return element('label', title === undefined ? {} : { title }, box, ` ${label}`);
}

function addSearch(bar: HTMLElement, actions: ToolActions): void {
  const field = element('input', { type: 'search', placeholder: 'command, key' });
  const found = element('span', { role: 'status' });
  field.addEventListener('input', () => {
    found.textContent = actions.search(field.value);
  });
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || found.textContent === 'nothing found') return;
    found.textContent = actions.found(event.shiftKey ? -1 : 1);
  });
  bar.append(element('label', {}, 'Search ', field), found);
}
