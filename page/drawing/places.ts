/** Where the messages of a run are on the axis, in arrays of numbers: a frame of a hundred thousand takes a millisecond. */
import type { MessageKind, Timeline } from '../format.ts';
import type { Axis } from './axis.ts';

/** The messages of one kind between two lanes, with the heights of the lanes. */
interface MessageWay {
  readonly kind: MessageKind;
  readonly from: number;
  readonly to: number;
}

/** The messages of a run as numbers. */
export class MessagePlaces {
  /** The places at which messages are sent, and at which they end. */
  readonly sent: Float64Array;
  readonly end: Float64Array;
  /** The index of each message's way in `ways`. */
  readonly way: Uint16Array;
  readonly ways: MessageWay[] = [];
  /** 1 where the message never arrived. */
  readonly lost: Uint8Array;

  /** @param laneY the height of a lane */
  constructor(run: Timeline, axis: Axis, laneY: (name: string) => number | undefined) {
    const { length } = run.messages;
    this.sent = new Float64Array(length);
    this.end = new Float64Array(length);
    this.way = new Uint16Array(length);
    this.lost = new Uint8Array(length);
    const known = new Map<string, number>();
    for (const [i, { sent, arrived, died, due, fate, from, to, kind }] of run.messages.entries()) {
      this.sent[i] = axis.place(sent);
      this.end[i] = axis.place(arrived ?? died ?? (fate === 'waiting' ? run.end : due));
      this.lost[i] = arrived === null ? 1 : 0;
      const name = `${from}>${to} ${kind}`;
      let way = known.get(name);
      if (way === undefined) {
        way = this.ways.push({ kind, from: laneY(from) ?? Number.NaN, to: laneY(to) ?? Number.NaN }) - 1;
        known.set(name, way);
      }
      this.way[i] = way;
    }
  }
}

/** Which messages are in a window. */
export interface InView {
  /** The index of the first that may be in it. */
  readonly first: number;
  /** The index after the last. */
  readonly last: number;
}
