/** The playground: choices, a film of the run, faults by hand, the code of the clients, and the address that says it all. */

import { showDetails } from '../../page/app/details.ts';
import { button, element, refill } from '../../page/app/elements.ts';
import { RunStage } from '../../page/app/stage.ts';
import { Axis, timeText } from '../../page/drawing/axis.ts';
import { type Theme, themes } from '../../page/drawing/theme.ts';
import { momentsOf, RunView, type Selection } from '../../page/drawing/view.ts';
import type { Timeline } from '../../page/format.ts';
import { verdictWord } from '../../page/plain.ts';
import { caseText, type PlayCase, type PlayStep, readCase } from '../cases/case.ts';
import { FIRST_CASE } from '../cases/first.ts';
import { codeOf } from '../cases/locks.ts';
import type { PlayedCase } from '../cases/messages.ts';
import { Actions, markMissed, stepItems } from './actions.ts';
import { Choices } from './choices.ts';
import { draftAt, keepDraft } from './drafts.ts';
import { Runner } from './runner.ts';
import { Transport } from './transport.ts';

const EMPTY: Timeline = {
  title: 'Playground',
  clock: 'virtual',
  end: 1,
  lanes: [],
  messages: [],
  marks: [],
  holds: [],
  keys: [],
  overlaps: [],
  story: [],
};

/** The state of an entry of the tab's history whose code the user has run. A link cannot set it. */
const RUN = 'run';

/** The text of a case in the address bar. */
const addressOf = (play: PlayCase): string => `#${caseText(play, codeOf)}`;

/** The page as a whole. */
export class Playground {
  readonly #root: HTMLElement;
  readonly #runner = new Runner();
  readonly #transport = new Transport(() => this.#moved());
  readonly #actions = new Actions((on, blow) => this.#strike({ ...blow, on, at: this.#now }));
  readonly #verdict = element('p', { class: 'verdict', role: 'status', tabindex: '-1' });
  readonly #choices = new Choices({
    chosen: (play) => this.#choose(play),
    find: () => void this.#find(),
  });
  readonly #steps = element('ul', { class: 'steps', 'aria-label': 'Faults of this run' });
  readonly #drawing = element('div', {
    class: 'drawing',
    tabindex: '0',
    role: 'group',
    'aria-label': 'Timeline. Step with the arrow keys, play with the space bar.',
  });
  readonly #story = element('ol', { class: 'story' });
  readonly #details = element('section', { 'aria-live': 'polite', 'aria-label': 'Details' });
  readonly #code = element('textarea', { spellcheck: 'false', 'aria-label': 'The code of each client' });
  /** What is wrong with the code, where it is seen: the verdict may be out of sight. */
  readonly #trouble = element('p', { class: 'bad' });
  readonly #editor = element('details', { open: '' });
  readonly #undo = button('Undo the changes', () => {
    this.#takeCode(this.#play.code);
    this.#code.focus(); // The button goes.
  });
  readonly #footer = element('footer', { class: 'keys' });
  #play: PlayCase = FIRST_CASE;
  /** Code that a link brought, and that the user has not run yet. */
  #unread: string | undefined;
  #played: PlayedCase | undefined;
  #stage: RunStage | undefined;
  /** How many sentences of the story are shown. */
  #told = -1;
  #awaitsFrame = false;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#build();
    addEventListener('hashchange', () => this.#open());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#redraw());
    new ResizeObserver(() => this.#redraw()).observe(root);
  }

  /** Plays what the address says. */
  start(): void {
    this.#open();
  }

  #build(): void {
    this.#editor.append(
      element('summary', {}, 'The code of each client (TypeScript)'),
      this.#trouble,
      this.#code,
      button('Run this code', () => this.#run(), { class: 'main' }),
      ' ',
      this.#undo,
    );
    this.#code.addEventListener('input', () => this.#typed());
    this.#drawing.addEventListener('keydown', (event) => this.#key(event));
    this.#root.replaceChildren(
      element('header', {}, element('h1', {}, 'lostlock playground'), this.#verdict),
      this.#choices.root,
      this.#transport.root,
      this.#actions.root,
      this.#steps,
      element(
        'main',
        {},
        this.#drawing,
        element(
          'aside',
          { 'aria-label': 'Story and details' },
          element('h2', {}, 'What happened'),
          this.#story,
          this.#details,
          this.#editor,
        ),
      ),
      this.#footer,
    );
  }

  /** Reads the address. Code that a link brings along is shown before it runs. */
  #open(): void {
    const play = readCase(location.hash, FIRST_CASE, codeOf);
    if (addressOf(play) === addressOf(this.#play) && this.#played !== undefined) return;
    history.replaceState(history.state, '', addressOf(play));
    const foreign = play.story === '' && play.code !== codeOf(play.lock) && history.state !== RUN;
    if (!foreign) {
      this.#unread = undefined;
      void this.#load(play);
      return;
    }
    this.#unread = play.code;
    this.#take(play);
    this.#show({ timeline: EMPTY, hash: '', replay: '', missed: [] }, 0);
    this.#askToRead();
  }

  #askToRead(): void {
    this.#say('This link brings code of its own. Read it below, then press "Run this code".');
  }

  #run(): void {
    this.#unread = undefined;
    void this.#load({ ...this.#edited, story: '' });
  }

  /** The case with the code as it is in the editor. */
  get #edited(): PlayCase {
    return this.#play.story === '' ? { ...this.#play, code: this.#code.value } : this.#play;
  }

  /** Another lock comes with its code; any other choice leaves what the user has written. */
  #choose(play: PlayCase): void {
    const { code } = play.lock === this.#play.lock ? this.#edited : play;
    void this.#load({ ...play, code });
  }

  #takeCode(code: string): void {
    this.#code.value = code;
    this.#typed();
  }

  #typed(): void {
    const { value } = this.#code;
    this.#undo.hidden = value === this.#play.code;
    if (this.#play.story === '') keepDraft(addressOf(this.#play), this.#undo.hidden ? undefined : value);
  }

  #take(play: PlayCase): void {
    // What was typed goes along: the entry that is left has the code that it ran.
    if (play.story === '' && play.code === this.#code.value) keepDraft(addressOf(this.#play), undefined);
    this.#play = play;
    const address = addressOf(play);
    if (address !== location.hash) history.pushState(undefined, '', address);
    this.#takeCode((play.story === '' ? draftAt(address) : undefined) ?? play.code);
    this.#trouble.textContent = '';
    this.#editor.hidden = play.story !== '';
    this.#choices.show(play);
    refill(this.#steps, ...stepItems(play.steps, (step) => this.#remove(step)));
  }

  /** Plays a case from a moment on. @param from in microseconds; default the start */
  async #load(play: PlayCase, from = 0): Promise<void> {
    if (this.#root.dataset.state === 'searching') this.#runner.stop();
    this.#take(play);
    if (play.story === '' && play.code === this.#unread) return this.#askToRead();
    history.replaceState(RUN, '');
    this.#root.dataset.state = 'busy';
    this.#sayWithStop('Playing...');
    try {
      const played = await this.#runner.play(play);
      if (this.#play !== play) return;
      this.#show(played, from);
      this.#transport.play();
    } catch (error) {
      if (this.#play === play) this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#played = undefined;
    this.#root.dataset.state = 'failed';
    const why = error instanceof Error ? error.message : String(error);
    this.#say(why, true);
    this.#trouble.textContent = why;
    const line = Number(/^Line (\d+): /.exec(why)?.[1]);
    if (line > 0) this.#selectLine(line);
  }

  /** Selects a line of the code, so that an error is seen where it is. */
  #selectLine(line: number): void {
    const lines = this.#code.value.split('\n');
    const begin = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0);
    this.#code.focus();
    this.#code.setSelectionRange(begin, begin + (lines[line - 1]?.length ?? 0));
  }

  #show(played: PlayedCase, from: number): void {
    this.#played = played;
    const { timeline, hash, replay, missed } = played;
    const scene = new RunView(timeline, new Axis(momentsOf(timeline).filter((at) => at >= 0)));
    const owner = {
      theme: (): Theme => themes[matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'],
      select: (_: RunStage, selection: Selection | undefined) => this.#select(selection),
      show: (window: [number, number]) => {
        scene.window = window;
        this.#redraw();
      },
      lane: (name: string) => this.#actions.choose(timeline, name),
    };
    this.#stage = new RunStage(scene, owner, '');
    this.#drawing.replaceChildren(this.#stage.root);
    this.#told = -1;
    markMissed([...this.#steps.children], this.#play.steps, missed);
    this.#actions.show(this.#play.story === '' ? timeline : undefined);
    showDetails(this.#details, timeline, undefined, (to) => this.#select(to));
    const again = replay === '' ? '' : ` In a test: replay(options, '${replay}').`;
    this.#footer.replaceChildren(
      element(
        'span',
        { class: 'hash' },
        hash === '' ? '' : `Hash of everything that happened: ${hash}.${again}`,
      ),
    );
    this.#root.dataset.hash = hash;
    this.#transport.load(scene, from);
    this.#root.dataset.state = 'ready';
  }

  /** The playhead's moment in milliseconds. */
  get #now(): number {
    return Math.round(this.#transport.at) / 1000;
  }

  #strike(step: PlayStep): void {
    const steps = [...this.#play.steps, step].sort((a, b) => a.at - b.at);
    void this.#load({ ...this.#edited, steps }, this.#transport.at);
  }

  #remove(step: PlayStep): void {
    void this.#load({ ...this.#edited, steps: this.#play.steps.filter((each) => each !== step) }, 0);
    if (this.#play.steps.length === 0) this.#drawing.focus(); // The button that was pressed is gone.
  }

  async #find(): Promise<void> {
    const play = this.#edited;
    if (play.code === this.#unread) return this.#askToRead();
    this.#take(play);
    history.replaceState(RUN, '');
    this.#transport.pause();
    this.#root.dataset.state = 'searching';
    const count = this.#sayWithStop('Searching...');
    try {
      const found = await this.#runner.find({ ...play, steps: [] }, (worlds, of) => {
        count.textContent = `Searching: ${worlds} of ${of} worlds...`;
      });
      if (this.#play !== play) return;
      this.#root.dataset.state = 'ready';
      if (found.play !== undefined) return await this.#load(found.play);
      this.#verdict.className = 'verdict safe';
      this.#verdict.replaceChildren(
        element('strong', {}, `Held in ${found.worlds} worlds with faults.`),
        ' No promise is broken in any of them. Other faults, and other times, may still break one.',
      );
    } catch (error) {
      if (this.#play === play) this.#fail(error);
    }
  }

  #say(text: string, bad = false): void {
    this.#verdict.className = bad ? 'verdict bad' : 'verdict';
    this.#verdict.textContent = text;
  }

  /** Says what is under way, beside a button that ends it. Returns the element of the text. */
  #sayWithStop(text: string): HTMLElement {
    const said = element('span', {}, text);
    const stop = button('Stop', () => {
      this.#verdict.focus(); // The button is about to go.
      this.#runner.stop();
    });
    this.#verdict.className = 'verdict';
    this.#verdict.replaceChildren(said, ' ', stop);
    return said;
  }

  #moved(): void {
    const { timeline } = this.#played ?? {};
    if (timeline === undefined) return;
    const at = this.#transport.at;
    const told = timeline.story.filter((step) => step.at <= at).length;
    if (told !== this.#told) {
      this.#told = told;
      this.#tellStory(timeline, told);
      this.#judge(timeline, at);
    } else if (at >= this.#transport.end) this.#judge(timeline, at);
    this.#redraw();
  }

  #tellStory(timeline: Timeline, told: number): void {
    const items = timeline.story.slice(0, told).map(({ at, text, mood, about }) => {
      const made = button('', () => {
        const [type, index] = Object.entries(about ?? {})[0] ?? [];
        if (type !== undefined) this.#select({ type: type as Selection['type'], index: Number(index) });
      });
      made.append(element('time', {}, timeText(at)), element('span', { class: mood }, text));
      return element('li', {}, made);
    });
    this.#story.replaceChildren(...items);
    this.#story.scrollTop = this.#story.scrollHeight;
  }

  /** The verdict is known from the moment at which a promise breaks, or at the end. */
  #judge(timeline: Timeline, at: number): void {
    const { verdict, story, overlaps } = timeline;
    if (verdict === undefined) return;
    const bad = Math.min(
      overlaps[0]?.from ?? Infinity,
      story.find(({ lane }) => lane === '*')?.at ?? Infinity,
    );
    if (at < this.#transport.end && (verdict.safe || at < bad)) {
      this.#say('So far, so good.');
      return;
    }
    // One run in which nothing breaks proves little: only many worlds with faults deserve green.
    const isOne = verdict.safe && overlaps.length === 0;
    const word = element('strong', {}, isOne ? 'Held in this run.' : verdictWord(verdict, timeline));
    this.#verdict.className = isOne ? 'verdict one' : verdict.safe ? 'verdict safe' : 'verdict';
    this.#verdict.replaceChildren(word, ` ${verdict.why}`);
  }

  #select(selection: Selection | undefined): void {
    const { timeline } = this.#played ?? {};
    if (timeline === undefined) return;
    this.#transport.pause();
    this.#stage?.scene.select(selection);
    showDetails(this.#details, timeline, selection, (to) => this.#select(to));
    this.#redraw();
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions: Record<string, () => void> = {
      ArrowRight: () => this.#transport.step(1),
      ArrowLeft: () => this.#transport.step(-1),
      Home: () => this.#transport.seek(0),
      End: () => this.#transport.seek(Infinity),
      ' ': () => this.#transport.toggle(),
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  }

  #redraw(): void {
    if (this.#awaitsFrame) return;
    this.#awaitsFrame = true;
    requestAnimationFrame(() => {
      this.#awaitsFrame = false;
      this.#stage?.draw();
    });
  }
}
