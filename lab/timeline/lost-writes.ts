/**
 * Tells which writes were lost, each once. The sentence of a write that was acknowledged, or of a lock, says what was lost with it. The
 * sentence of any other write says that its copy did not arrive.
 */
import type { StoryStep, TimelineMark } from '../../page/format.ts';
import { readable } from '../../page/text.ts';
import type { Tenure } from '../account/tenures.ts';
import type { ReadMessage } from './connections.ts';
import { listText, type Plot } from './plot.ts';

/** More writes than this that are lost at once are told in one sentence. */
const MANY = 3;

/** A part of the replication stream that never arrived. */
interface LostCopy {
  readonly index: number;
  readonly message: ReadMessage;
  readonly died: number;
  /** Its commands as text. */
  readonly commands: readonly string[];
}

/** The lost writes of a run, and what is told about each. */
export class LostWrites {
  readonly #plot: Plot;
  readonly #copies: readonly LostCopy[];
  /** The copies whose loss another sentence tells. */
  readonly #told = new Set<LostCopy>();

  constructor(plot: Plot) {
    this.#plot = plot;
    this.#copies = plot.messages.flatMap((message, index): LostCopy[] => {
      const { kind, fate, died, asks = [] } = message;
      if (kind !== 'stream' || fate !== 'lost' || died === undefined) return [];
      return [{ index, message, died, commands: asks.map(({ words }) => readable(words.join(' '))) }];
    });
  }

  /**
   * The copy of a grant that a failover lost, whose loss the caller tells.
   * @param to the node that never received it
   */
  copyOf({ call }: Tenure, to: string | undefined): { readonly message: number } | undefined {
    if (call === undefined) return undefined;
    return this.#tell(({ message }) => message.cause === call.message, to);
  }

  /** The sentences about acknowledged writes that were lost, by their marks. A hundred that are lost at once are told once. */
  acknowledged(): ReadonlyMap<number, StoryStep> {
    const lost = new Map<string, { readonly mark: number; readonly own: TimelineMark }[]>();
    const steps = new Map<number, StoryStep>();
    for (const [mark, own] of this.#plot.marks.entries()) {
      if (own.kind !== 'lost') continue;
      const name = `${own.at} ${own.lane} ${writeIn(own).client}`;
      const same = lost.get(name);
      if (same === undefined) lost.set(name, [{ mark, own }]);
      else same.push({ mark, own });
    }
    for (const all of lost.values()) {
      const { mark } = all[0] as (typeof all)[number];
      const marks = all.map(({ own }) => own);
      steps.set(mark, this.#lost(marks, mark));
    }
    return steps;
  }

  #lost(all: readonly TimelineMark[], mark: number): StoryStep {
    const [first] = all as [TimelineMark];
    const { at, lane } = first;
    const { client } = writeIn(first);
    const { how, node } = loserOf(this.#plot.marks, first);
    const abouts = all.map((each) => {
      const write = writeIn(each);
      // The text of a mark may be cut.
      const start = write.command.replace(/\.\.\.$/, '');
      const isIt = (copy: LostCopy): boolean =>
        copy.message.from === lane && copy.died <= at && copy.commands.some((text) => text.startsWith(start));
      return this.#tell(isIt, node);
    });
    const about = abouts[0] ?? { mark };
    const shown = all.map((each) => brief(writeIn(each).command));
    const whose = client === '' ? '' : ` of ${client}`;
    const text =
      all.length > MANY
        ? `${all.length} acknowledged writes${whose} are lost: ${how} them. The first is ${shown[0]}.`
        : client === ''
          ? `Lost: ${listText(shown)}.`
          : `${all.length === 1 ? `An acknowledged write of ${client} is` : `${all.length} acknowledged writes of ${client} are`} lost: ${how} ${listText(shown)}.`;
    return { at, lane, text, mood: 'bad', about };
  }

  /** Marks the copies of one write as told: there may be one for each replica. Returns the copy for the node `to`, or else the last one. */
  #tell(isIt: (copy: LostCopy) => boolean, to: string | undefined): { message: number } | undefined {
    const all = this.#copies.filter(isIt);
    const last = all.findLast(({ message }) => message.to === to) ?? all.at(-1);
    if (last === undefined) return undefined;
    for (const each of all) if (each.message.offsets?.[1] === last.message.offsets?.[1]) this.#told.add(each);
    return { message: last.index };
  }

  /** The sentences about the copies of writes on lock keys that no other sentence tells. Must be asked for last. */
  copies(): StoryStep[] {
    const { account } = this.#plot;
    const keys = new Set(account.tenures.flatMap(({ lock, key }) => [lock, key]));
    const groups = new Map<string, LostCopy[]>();
    for (const copy of this.#copies) {
      const { from, asks = [] } = copy.message;
      if (this.#told.has(copy) || !asks.some(({ words }) => words.some((word) => keys.has(word)))) continue;
      const name = `${copy.died} ${from}`;
      groups.set(name, [...(groups.get(name) ?? []), copy]);
    }
    return [...groups.values()].map(copiesStep);
  }
}

function copiesStep(all: readonly LostCopy[]): StoryStep {
  const [{ index, message, died }] = all as [LostCopy];
  const nodes = [...new Set(all.map(({ message: { to } }) => to))];
  const writes = [...new Set(all.flatMap(({ commands }) => commands.map(brief)))].filter(
    (text) => !/^select \d+$/i.test(text),
  );
  const one = writes.length === 1;
  const what = one
    ? `The copy of the write ${writes[0]} is`
    : writes.length > MANY
      ? `The copies of ${writes.length} writes are`
      : `The copies of the writes ${listText(writes)} are`;
  const never = `${listText(nodes)} never ${nodes.length === 1 ? 'receives' : 'receive'} ${one ? 'it' : 'them'}`;
  const text = `${what} lost on ${one ? 'its' : 'their'} way from ${message.from}: ${never}.`;
  return { at: died, lane: message.to, text, mood: 'bad', about: { message: index } };
}

/** What a mark of a lost write says. The client is empty when it is not known. */
function writeIn({ text }: TimelineMark): { readonly client: string; readonly command: string } {
  const [, client = '', command = ''] = /lost: (\S+) (.*)$/.exec(text) ?? [];
  return { client: client === '-' ? '' : client, command };
}

/** A command in short: without the deadline that a primary makes of a lease, because its digits say nothing to a reader. */
function brief(command: string): string {
  return command.replace(/^\S+/, (name) => name.toUpperCase()).replace(/ PXAT \d{10,}/i, '');
}

/** What lost a write: the node that started again at that moment, or a new primary. */
function loserOf(marks: readonly TimelineMark[], { at, lane }: TimelineMark): { how: string; node?: string } {
  const restart = marks.findLast((each) => each.kind === 'restart' && each.lane === lane && each.at <= at);
  const promote = marks.findLast((each) => each.kind === 'promote' && each.at <= at);
  if (restart !== undefined && restart.at >= (promote?.at ?? -Infinity))
    return { how: `${lane} started again without` };
  if (promote === undefined) return { how: 'the new primary never received' };
  return { how: `the new primary, ${promote.lane}, never received`, node: promote.lane };
}
