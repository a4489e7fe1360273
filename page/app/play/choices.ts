/** The choices of the playground: a story, or a lock with its topology, clients and seed. */
import type { PlayCase } from '../../play/case.ts';
import { playLocks, playNodes } from '../../play/locks.ts';
import { STORIES } from '../../play/stories.ts';
import { button, choice, element } from '../elements.ts';

/** What the choices ask of the page. */
export interface ChoiceActions {
  chosen(play: PlayCase): void;
  find(): void;
}

/** The names of the clients. */
const ALPHABET = ['A', 'B', 'C', 'D', 'E'];

/** The controls, as a case has them. */
export function choicesFor(play: PlayCase, actions: ChoiceActions): HTMLElement {
  const { chosen } = actions;
  const own = { ...play, story: '', steps: [], jitter: 0 };
  const stories = [['', 'a run of my own'] as const, ...STORIES];
  const story = choice('Play', stories, (value) => chosen({ ...play, story: value }));
  pick(story, play.story);
  const bar = element('div', { class: 'tools', role: 'group', 'aria-label': 'What to play' }, story);
  if (play.story === '') {
    const titles = playLocks.map(({ name, title }) => [name, title] as const);
    const lock = choice('Lock', titles, (value) => {
      const found = playLocks.find(({ name }) => name === value);
      if (found !== undefined) chosen({ ...own, lock: value, code: found.code, nodes: found.nodes });
    });
    pick(lock, play.lock);
    const nodes = choice('on', playNodes, (value) => chosen({ ...own, nodes: value }));
    pick(nodes, play.nodes);
    const counts = ALPHABET.map((_, i) => [String(i + 1), String(i + 1)] as const);
    const clients = choice('Clients', counts, (value) =>
      chosen({ ...own, clients: ALPHABET.slice(0, Number(value)) }),
    );
    pick(clients, String(play.clients.length));
    bar.append(lock, nodes, clients);
  }
  const seed = element('input', { type: 'number', min: '0', max: '4294967295', value: String(play.seed) });
  seed.addEventListener('change', () =>
    chosen({ ...play, seed: Math.min(2 ** 32 - 1, Math.max(0, Math.trunc(Number(seed.value)))) }),
  );
  bar.append(element('label', {}, 'Seed ', seed));
  if (play.story === '') bar.append(button('Find the loss', actions.find, { class: 'main' }));
  bar.append(copyButton());
  return bar;
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
