/** The choices of the playground: a story, or a lock with its topology, clients and seed. */

import { button, choice, element } from '../../page/app/elements.ts';
import type { PlayCase } from '../cases/case.ts';
import { FIRST_CASE } from '../cases/first.ts';
import { playLocks, playNodes } from '../cases/locks.ts';
import { STORIES } from '../cases/stories.ts';

/** What the choices ask of the page. */
export interface ChoiceActions {
  chosen(play: PlayCase): void;
  find(): void;
}

/** The names of the clients. */
const ALPHABET = ['A', 'B', 'C', 'D', 'E'];

/** The controls. They stay while the cases change, so that the focus stays too. */
export class Choices {
  readonly root = element('div', { class: 'tools', role: 'group', 'aria-label': 'What to play' });
  readonly #actions: ChoiceActions;
  readonly #story = choice('Play', [['', 'a run of my own'], ...STORIES], (story) =>
    this.#actions.chosen({ ...this.#play, story }),
  );
  readonly #lock = choice(
    'Lock',
    playLocks.map(({ name, title }) => [name, title]),
    (value) => {
      const found = playLocks.find(({ name }) => name === value);
      if (found !== undefined) this.#choose({ lock: value, code: found.code, nodes: found.nodes });
    },
  );
  readonly #nodes = choice('on', playNodes, (nodes) => this.#choose({ nodes }));
  readonly #clients = choice(
    'Clients',
    ALPHABET.map((_, i) => [String(i + 1), String(i + 1)]),
    (count) => this.#choose({ clients: ALPHABET.slice(0, Number(count)) }),
  );
  readonly #seed = element('input', { type: 'number', min: '0', max: '4294967295' });
  readonly #find = button('Find the loss', () => this.#actions.find(), { class: 'main' });
  #play: PlayCase = FIRST_CASE;

  constructor(actions: ChoiceActions) {
    this.#actions = actions;
    this.#seed.addEventListener('change', () => {
      const seed = Math.min(2 ** 32 - 1, Math.max(0, Math.trunc(Number(this.#seed.value))));
      actions.chosen({ ...this.#play, seed });
    });
    const seed = element('label', {}, 'Seed ', this.#seed);
    this.root.append(this.#story, this.#lock, this.#nodes, this.#clients, seed, this.#find, copyButton());
  }

  /** Shows the choices of a case. */
  show(play: PlayCase): void {
    this.#play = play;
    pick(this.#story, play.story);
    pick(this.#lock, play.lock);
    pick(this.#nodes, play.nodes);
    pick(this.#clients, String(play.clients.length));
    this.#seed.value = String(play.seed);
    for (const own of [this.#lock, this.#nodes, this.#clients, this.#find]) own.hidden = play.story !== '';
  }

  /** Faults belong to the run that they were made for. */
  #choose(part: Partial<PlayCase>): void {
    this.#actions.chosen({ ...this.#play, steps: [], jitter: 0, ...part });
  }
}

/** Copies the address, and says so: some browsers let a page copy only on secure addresses. */
function copyButton(): HTMLButtonElement {
  const made = button('Copy the link', () => {
    const copied = navigator.clipboard?.writeText(location.href) ?? Promise.reject(new Error('no clipboard'));
    copied.then(
      () => made.replaceChildren('Copied'),
      () => made.replaceChildren('The link is in the address bar'),
    );
  });
  return made;
}

function pick(label: HTMLLabelElement, value: string): void {
  const select = label.querySelector('select');
  if (select !== null) select.value = value;
}
