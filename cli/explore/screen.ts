/** Shows how an exploration goes: in a terminal a table that changes in its place, elsewhere lines, if they are asked for. */
import type { ExploreProgress } from '../../explore/options.ts';
import { columnsOf, counted } from '../../explore/report-text.ts';
import { tableLines } from '../../explore/table.ts';
import { progressLine } from './files.ts';

/** Milliseconds between two lines of progress, and between two drawings in a terminal. */
const [EACH_LINE, EACH_DRAWING] = [1000, 200];

/** Where progress is shown: standard error, as a rule. */
export interface ScreenOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** True when what is written can be changed afterwards. */
export function isLive({ isTTY }: ScreenOutput, env: NodeJS.ProcessEnv = process.env): boolean {
  return isTTY === true && env.TERM !== 'dumb' && (env.CI ?? '') === '';
}

/** The progress of explorations. */
export class Screen {
  readonly #out: ScreenOutput;
  readonly #live: boolean;
  readonly #lines: boolean;
  #last = -Infinity;
  /** The lines that are on the screen now. */
  #drawn: readonly string[] = [];

  /** @param lines true to write lines where nothing can be changed afterwards */
  constructor(out: ScreenOutput, lines: boolean, live: boolean = isLive(out)) {
    this.#out = out;
    this.#lines = lines;
    this.#live = live;
  }

  /** Shows the progress, unless it was shown just before. */
  show(progress: ExploreProgress): void {
    const now = performance.now();
    if ((!this.#live && !this.#lines) || now - this.#last < (this.#live ? EACH_DRAWING : EACH_LINE)) return;
    this.#last = now;
    if (this.#live) this.draw(progress);
    else this.#out.write(`${progressLine(progress).trimEnd()}\n`);
  }

  /** Draws the progress in the place of the drawing before. */
  draw(progress: ExploreProgress): void {
    const { columns = 80, rows = 24 } = this.#out;
    const lines = progressTable(progress, columns - 1, rows - 1);
    this.#out.write(`${this.#erased()}${lines.join('\n')}\n`);
    this.#drawn = lines;
  }

  /** Takes the drawing away. */
  clear(): void {
    if (this.#drawn.length > 0) this.#out.write(this.#erased());
    this.#drawn = [];
    this.#last = -Infinity;
  }

  /** What takes the drawing away. A terminal that has become narrower shows a line on several. */
  #erased(): string {
    const { columns = 80 } = this.#out;
    const height = this.#drawn.reduce((sum, { length }) => sum + Math.max(1, Math.ceil(length / columns)), 0);
    return height === 0 ? '' : `\x1b[${height}A\x1b[J`;
  }
}

/** The drawing: what is explored, how far it is, and in how many worlds each fault struck and each promise broke. */
export function progressTable(progress: ExploreProgress, width: number, height: number): string[] {
  const { name, worlds, of, findings, perSecond, states, strategy, coverage, promises } = progress;
  const share = Number.isFinite(of) ? ` of ${of}` : '';
  const parts = [
    `${worlds}${share} worlds`,
    counted(findings, 'finding'),
    `${perSecond.toFixed(0)}/s`,
    counted(states, 'state'),
    strategy,
  ];
  // What does not fit goes, the least important first.
  while (parts.length > 1 && parts.join(', ').length > width) parts.pop();
  const head = [name, parts.join(', ')].map((line) => line.slice(0, Math.max(1, width)));
  if (height < 5) return head.slice(-Math.max(1, height));
  return [...head, ...tableLines(coverage, columnsOf(promises), width, height - head.length)];
}
