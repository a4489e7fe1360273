/** Reads what a primary sends to a replica: the lines of the handshake, the dataset, and the stream with its offsets. */
import { type Bytes, parseSafeInteger } from '../../protocol/bytes.ts';
import { Transfer } from '../../server/replication/transfer.ts';

/** Receives what the connection carries. */
export interface StreamReceiver {
  /** A full resync: the dataset as of this offset, and the id of the stream behind it. */
  dataset(id: Bytes, offset: number, rdb: Bytes): void;
  /** A partial resync: the stream goes on behind this offset, perhaps under another id. */
  continues(id: Bytes | undefined, offset: number): void;
  /** Bytes of the stream. `from` is the offset right before them. */
  stream(from: number, bytes: Bytes): void;
}

/** Reads one connection, from its first byte on. */
export class SyncReader {
  readonly #asked: () => number;
  readonly #receiver: StreamReceiver;
  #state: 'lines' | 'dataset' | 'stream' = 'lines';
  #line = '';
  #transfer: Transfer | undefined;
  #offset = 0;

  /** @param asked returns the offset up to which the replica had the stream when it sent PSYNC */
  constructor(asked: () => number, receiver: StreamReceiver) {
    this.#asked = asked;
    this.#receiver = receiver;
  }

  /** True behind the dataset or a partial resync. */
  get streams(): boolean {
    return this.#state === 'stream';
  }

  /** Reads the next bytes. */
  take(bytes: Bytes): void {
    let rest = bytes;
    if (this.#state === 'lines') rest = this.#readLines(rest);
    if (this.#state === 'dataset') rest = this.#readDataset(rest);
    if (this.#state === 'stream' && rest !== '') {
      this.#receiver.stream(this.#offset, rest);
      this.#offset += rest.length;
    }
  }

  #readLines(bytes: Bytes): Bytes {
    this.#line += bytes;
    while (this.#state === 'lines') {
      const end = this.#line.indexOf('\n');
      if (end < 0) return '';
      const line = this.#line.slice(0, end).replace(/\r$/, '');
      this.#line = this.#line.slice(end + 1);
      this.#answer(line);
    }
    return this.#line;
  }

  #answer(line: Bytes): void {
    const [kind, id = '', offset = ''] = line.split(' ');
    if (kind === '+FULLRESYNC') {
      this.#state = 'dataset';
      this.#transfer = new Transfer(id, parseSafeInteger(offset) ?? 0);
    } else if (kind === '+CONTINUE') {
      this.#state = 'stream';
      this.#offset = this.#asked();
      this.#receiver.continues(id === '' ? undefined : id, this.#offset);
    }
  }

  #readDataset(bytes: Bytes): Bytes {
    const transfer = this.#transfer as Transfer;
    const rest = transfer.take(bytes);
    if (rest === undefined) return '';
    this.#state = 'stream';
    this.#offset = transfer.offset;
    this.#transfer = undefined;
    this.#receiver.dataset(transfer.id, transfer.offset, transfer.rdb());
    return rest;
  }
}
