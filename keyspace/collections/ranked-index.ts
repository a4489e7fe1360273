/**
 * Members in order of (score, bytes), with ranks: sorted arrays of bounded length, and a Fenwick tree over their
 * lengths. A small index is one sorted array. Measured in `reference/performance-limits.md`, 5: insertion and rank
 * at 1e5 members cost a third of a skip list's, memory a fifth.
 */
import type { Bytes } from '../../protocol/bytes.ts';
import { Fenwick } from './fenwick.ts';

export interface ScoredMember {
  readonly member: Bytes;
  readonly score: number;
}

/** One sorted run: two arrays in step. Only an empty index has an empty chunk. */
interface Chunk {
  members: Bytes[];
  scores: number[];
}

/** Half of it moves to a new chunk when a chunk grows beyond this. */
const CHUNK_MAX = 512;
/** A chunk that shrinks below this joins its neighbour when the two fit well. */
const CHUNK_MIN = 64;

export class RankedIndex {
  #chunks: Chunk[] = [{ members: [], scores: [] }];
  #counts = new Fenwick([0]);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a member that is not there yet. */
  insert(member: Bytes, score: number): void {
    const number = this.#chunkOf(member, score);
    const chunk = this.#chunks[number]!;
    const position = placeOf(chunk, member, score);
    const { members, scores } = chunk;
    if (position === members.length) {
      members.push(member);
      scores.push(score);
    } else {
      members.splice(position, 0, member);
      scores.splice(position, 0, score);
    }
    this.#size++;
    if (members.length > CHUNK_MAX) this.#split(number);
    else this.#counts.add(number, 1);
  }

  /** Removes a member that is there with this score. */
  delete(member: Bytes, score: number): void {
    const number = this.#chunkOf(member, score);
    const chunk = this.#chunks[number]!;
    const position = placeOf(chunk, member, score);
    chunk.members.splice(position, 1);
    chunk.scores.splice(position, 1);
    this.#size--;
    this.#counts.add(number, -1);
    if (chunk.members.length < CHUNK_MIN && this.#chunks.length > 1) this.#join(number);
  }

  /** How many come before (score, member). */
  rank(member: Bytes, score: number): number {
    const number = this.#chunkOf(member, score);
    return this.#counts.prefix(number) + placeOf(this.#chunks[number]!, member, score);
  }

  at(rank: number): ScoredMember | undefined {
    if (rank < 0 || rank >= this.#size) return undefined;
    const number = this.#counts.find(rank);
    const { members, scores } = this.#chunks[number]!;
    const position = rank - this.#counts.prefix(number);
    return { member: members[position]!, score: scores[position]! };
  }

  /** See SortedSet.rangeByRank. */
  range(start: number, stop: number, reverse: boolean): ScoredMember[] {
    const out: ScoredMember[] = [];
    const first = Math.max(0, start);
    let left = Math.min(stop, this.#size - 1) - first + 1;
    if (left <= 0) return out;
    const rank = reverse ? this.#size - 1 - first : first;
    let number = this.#counts.find(rank);
    let position = rank - this.#counts.prefix(number);
    const step = reverse ? -1 : 1;
    while (left > 0) {
      const { members, scores } = this.#chunks[number]!;
      for (; left > 0 && position >= 0 && position < members.length; position += step, left--) {
        out.push({ member: members[position]!, score: scores[position]! });
      }
      number += step;
      position = reverse ? (this.#chunks[number]?.members.length ?? 0) - 1 : 0;
    }
    return out;
  }

  *entries(reverse: boolean): Generator<ScoredMember, undefined> {
    const chunks = this.#chunks;
    for (let c = 0; c < chunks.length; c++) {
      const { members, scores } = chunks[reverse ? chunks.length - 1 - c : c]!;
      for (let i = 0; i < members.length; i++) {
        const position = reverse ? members.length - 1 - i : i;
        yield { member: members[position]!, score: scores[position]! };
      }
    }
  }

  countBelowScore(score: number, inclusive: boolean): number {
    return this.#countBelow((chunk, i) => {
      const other = chunk.scores[i]!;
      return other < score || (inclusive && other === score);
    });
  }

  countBelowMember(member: Bytes, inclusive: boolean): number {
    return this.#countBelow((chunk, i) => {
      const other = chunk.members[i]!;
      return other < member || (inclusive && other === member);
    });
  }

  copy(): RankedIndex {
    const copy = new RankedIndex();
    copy.#chunks = this.#chunks.map(({ members, scores }) => ({
      members: members.slice(),
      scores: scores.slice(),
    }));
    copy.#size = this.#size;
    copy.#recount();
    return copy;
  }

  /** The length of the prefix for which the test holds; it must hold for a prefix. */
  #countBelow(below: (chunk: Chunk, position: number) => boolean): number {
    const chunks = this.#chunks;
    const last = chunks.length - 1;
    const number = search(last, (c) => below(chunks[c]!, chunks[c]!.members.length - 1));
    const chunk = chunks[number]!;
    return this.#counts.prefix(number) + search(chunk.members.length, (i) => below(chunk, i));
  }

  /** The first chunk whose last entry is not before (score, member); the last chunk when there is none. */
  #chunkOf(member: Bytes, score: number): number {
    const chunks = this.#chunks;
    let low = 0;
    let high = chunks.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { members, scores } = chunks[middle]!;
      const end = members.length - 1;
      const other = scores[end]!;
      if (other < score || (other === score && members[end]! < member)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #split(number: number): void {
    const chunk = this.#chunks[number]!;
    // A chunk that overflows at its end is most likely filled in ascending order: leave it fuller than half.
    const keep = number === this.#chunks.length - 1 ? (CHUNK_MAX * 3) >>> 2 : CHUNK_MAX >>> 1;
    this.#chunks.splice(number + 1, 0, {
      members: chunk.members.splice(keep),
      scores: chunk.scores.splice(keep),
    });
    this.#recount();
  }

  #join(number: number): void {
    const first = number > 0 ? number - 1 : number;
    const left = this.#chunks[first]!;
    const right = this.#chunks[first + 1]!;
    if (left.members.length + right.members.length > CHUNK_MAX >>> 1) {
      if (left.members.length > 0 && right.members.length > 0) return;
    }
    this.#chunks.splice(first, 2, {
      members: left.members.concat(right.members),
      scores: left.scores.concat(right.scores),
    });
    this.#recount();
  }

  #recount(): void {
    this.#counts = new Fenwick(this.#chunks.map((chunk) => chunk.members.length));
  }
}

/** Where (score, member) stands in the chunk, or would. */
function placeOf(chunk: Chunk, member: Bytes, score: number): number {
  const { members, scores } = chunk;
  let low = 0;
  let high = members.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = scores[middle]!;
    if (other < score || (other === score && members[middle]! < member)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first number in 0 to end for which the test fails; it must hold for a prefix. */
function search(end: number, holds: (i: number) => boolean): number {
  let low = 0;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
