/** What the user can do to a client or a node at the present moment of a run. */

import { button, element, refill } from '../../page/app/elements.ts';
import { rolesOf } from '../../page/drawing/states.ts';
import type { Timeline } from '../../page/format.ts';
import type { PlayStep } from '../cases/case.ts';

/** A fault without its moment and its party. */
type Blow = Omit<PlayStep, 'at' | 'on'>;

/** How long a fault lasts that the user gives no length, in milliseconds. */
const LENGTH = 1500;

const blow = (kind: string, ms = 0, how = '', by = 0): Blow => ({ kind, ms, by, how });

const CLIENT: readonly (readonly [label: string, make: (ms: number) => Blow])[] = [
  ['Pause', (ms) => blow('client-pause', ms)],
  ['Kill', () => blow('client-death')],
  ['Kill and start again', () => blow('client-death', 0, 'restart')],
  ['Cut off', (ms) => blow('partition', ms)],
  ['Slow replies', (ms) => blow('delay', 20, 'replies', ms)],
  ['Lose a request', () => blow('lost-request')],
  ['Lose a reply', () => blow('lost-reply')],
  ['Clock forward', (ms) => blow('clock-jump', 0, '', ms)],
  ['Clock back', (ms) => blow('clock-jump', 0, '', -ms)],
];

/** What an action needs of the run: a node that follows another. */
type Need = 'a replica' | 'a replica, to be promoted';

const NODE: readonly (readonly [label: string, make: (ms: number) => Blow, needs?: Need])[] = [
  ['Hold its replication', (ms) => blow('hold', ms), 'a replica'],
  ['Promote', () => blow('promote'), 'a replica, to be promoted'],
  ['Crash and fail over', () => blow('failover', 20, 'crash'), 'a replica'],
  ['Crash and restart', (ms) => blow('restart-disk', ms)],
  ['Crash and restart empty', (ms) => blow('restart-empty', ms)],
  ['Pause', (ms) => blow('node-pause', ms)],
  ['Cut off from replicas', (ms) => blow('partition', ms, 'replicas'), 'a replica'],
  ['Busy with a script', (ms) => blow('busy', ms)],
  ['Clock forward', (ms) => blow('clock-jump', 0, '', ms)],
  ['Clock back', (ms) => blow('clock-jump', 0, '', -ms)],
];

/** Why an action would strike nothing; undefined when it would strike. @param roles those of the party */
function whyNothing(
  needs: Need | undefined,
  hasReplicas: boolean,
  roles: readonly string[] = [],
): string | undefined {
  if (needs === undefined) return undefined;
  if (!hasReplicas) return 'no node has a replica here';
  return needs === 'a replica, to be promoted' && roles.join() === 'primary'
    ? 'it is the primary'
    : undefined;
}

/** The controls by which the user strikes. */
export class Actions {
  readonly root = element('div', { class: 'tools strikes', role: 'group', 'aria-label': 'Faults' });
  readonly #strike: (on: string, blow: Blow) => void;
  readonly #length = element('input', {
    type: 'number',
    min: '1',
    max: '60000',
    step: '100',
    value: String(LENGTH),
  });
  #party = '';

  /** @param strike called with the party and the fault */
  constructor(strike: (on: string, blow: Blow) => void) {
    this.#strike = strike;
  }

  /** Shows the parties of a run, and what can happen to the chosen one. */
  show(run: Timeline | undefined): void {
    const lanes = (run?.lanes ?? []).filter(
      ({ kind, name }) => (kind === 'client' && name !== 'probe') || kind === 'node',
    );
    if (!lanes.some(({ name }) => name === this.#party)) this.#party = lanes[0]?.name ?? '';
    const parties = lanes.map(({ name }) =>
      button(name, () => this.choose(run, name), {
        class: 'party',
        'aria-pressed': String(name === this.#party),
      }),
    );
    const kind = lanes.find(({ name }) => name === this.#party)?.kind;
    const actions: typeof NODE = kind === undefined ? [] : kind === 'client' ? CLIENT : NODE;
    const roles: ReadonlyMap<string, readonly string[]> = run === undefined ? new Map() : rolesOf(run);
    const buttons = actions.map(([label, make, needs]) => {
      const why = whyNothing(needs, roles.size > 0, roles.get(this.#party));
      const strike = (): void =>
        this.#strike(this.#party, make(Math.max(1, Number(this.#length.value) || LENGTH)));
      return button(
        label,
        strike,
        why === undefined ? {} : { disabled: '', title: `It would strike nothing: ${why}` },
      );
    });
    const length = element('label', {}, 'for ', this.#length, ' ms');
    this.root.hidden = lanes.length === 0;
    refill(
      this.root,
      element('strong', {}, 'Strike now:'),
      ...parties,
      ...(buttons.length === 0 ? [] : [length, ...buttons]),
    );
  }

  choose(run: Timeline | undefined, party: string): void {
    this.#party = party;
    this.show(run);
  }
}

/** A step in words. */
function stepText({ kind, at, on, ms, by, how }: PlayStep): string {
  const more = [ms > 0 ? `${ms} ms` : '', by === 0 ? '' : `by ${by} ms`, how].filter((part) => part !== '');
  return `${Number(at.toFixed(1))} ms: ${kind} ${on}${more.length === 0 ? '' : ` (${more.join(', ')})`}`;
}

/** The steps of a run as items of a list. @param remove called with the step that the user takes out */
export function stepItems(steps: readonly PlayStep[], remove: (step: PlayStep) => void): HTMLLIElement[] {
  return steps.map((step) => {
    const text = stepText(step);
    return element(
      'li',
      {},
      text,
      button('\u00d7', () => remove(step), { 'aria-label': `Remove ${text}` }),
    );
  });
}

/** Marks the items of those steps that had nothing to strike. */
export function markMissed(
  items: readonly Element[],
  steps: readonly PlayStep[],
  missed: readonly PlayStep[],
): void {
  const texts = new Set(missed.map(stepText));
  for (const [i, step] of steps.entries())
    if (texts.has(stepText(step))) items[i]?.firstChild?.after(element('em', {}, ' struck nothing'));
}
