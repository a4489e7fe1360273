/**
 * One peer of the node under test, played by the tester: a replica that acknowledges what and when the program says, and
 * a primary that the node may follow.
 */
import type { Bytes } from '../../../protocol/bytes.ts';
import { encodeRequest } from '../../../protocol/encode.ts';
import { type RawReply, readReply, replyEnd } from '../../support/reply-text.ts';
import type { Offer, PeerName } from './program.ts';
import type { Ear, Stage, TesterEnd } from './stage.ts';

/** An empty dataset that every server reads: version 9, whose checksum 0 is not checked. */
const DATASET = `REDIS0009\xff${'\0'.repeat(8)}`;

/** How much of it comes first when half of it is offered. */
const HEAD = 4;

const LEFT = 'is left by the node';
const DIALLED = 'is dialled';

function wordsOf(bytes: Bytes): string[] {
  const [, items] = readReply(bytes);
  return Array.isArray(items) ? (items as RawReply[]).map(([, word]) => String(word)) : [];
}

/** The commands of a stream, cut out of the bytes as they arrive. */
class Commands {
  #bytes: Bytes = '';

  *take(bytes: Bytes): Iterable<{ words: string[]; length: number }> {
    this.#bytes += bytes;
    for (;;) {
      // A replica that loads a dataset sends empty lines to be heard of.
      this.#bytes = this.#bytes.replace(/^\n+/, '');
      if (this.#bytes === '') return;
      const end = replyEnd(this.#bytes, 0);
      if (end < 0) return;
      const command = this.#bytes.slice(0, end);
      this.#bytes = this.#bytes.slice(end);
      yield { words: wordsOf(command), length: end };
    }
  }
}

/** The peer's link as a replica of the node. */
class ReplicaLink implements Ear {
  readonly #peer: Peer;
  readonly #commands = new Commands();
  end: TesterEnd | undefined;
  /** What has come before the stream. */
  #head: Bytes = '';
  /** How many commands before PSYNC the node has accepted. It refuses PSYNC while it has something to send. */
  #accepted = 0;
  streaming = false;
  /** It asks with SYNC, which is answered with the dataset at once. */
  readonly #old: boolean;

  constructor(peer: Peer, old: boolean) {
    this.#peer = peer;
    this.#old = old;
  }

  hear(bytes: Bytes): void {
    if (!this.streaming) bytes = this.#introduced(bytes);
    if (!this.streaming) return;
    for (const { words, length } of this.#commands.take(bytes)) this.#peer.streamed(words, length);
  }

  closed(): void {
    this.#peer.lost(this);
  }

  /** Reads the handshake and the dataset. Returns what the stream begins with. */
  #introduced(bytes: Bytes): Bytes {
    this.#head += bytes;
    if (this.#old) return this.#given(this.#head, '', undefined);
    if (this.#accepted < 2) {
      this.#accepted = this.#head.split('+OK').length - 1;
      if (this.#accepted === 2) this.#peer.introduced(this);
    }
    const [all, kind, rest = ''] =
      /(?:^|\n)([-+](?:FULLRESYNC|CONTINUE|ERR|NOMASTERLINK|[A-Z]{4,}) ?)([^\r\n]*)\r\n/.exec(this.#head) ??
      [];
    if (all === undefined || kind === undefined) return '';
    const behind = this.#head.slice(this.#head.indexOf(all) + all.length);
    const [id = '', offset = ''] = rest.split(' ');
    if (kind.startsWith('-')) {
      this.#head = '';
      this.#peer.refused(`${kind}${rest}`);
      return '';
    }
    if (kind.startsWith('+CONTINUE')) {
      this.streaming = true;
      this.#peer.began(id, undefined);
      return behind;
    }
    return this.#given(behind, id, Number(offset));
  }

  /** Reads the dataset. Returns what the stream begins with. */
  #given(bytes: Bytes, id: Bytes, offset: number | undefined): Bytes {
    const [, error] = /^\n*(-[^\r\n]*)\r\n/.exec(bytes) ?? [];
    if (error !== undefined) this.#peer.refused(error);
    const [announced, length = ''] = /^\n*\$(\d+)\r\n/.exec(bytes) ?? [];
    const dataset = (announced?.length ?? 0) + Number(length);
    if (announced === undefined || bytes.length < dataset) return '';
    this.streaming = true;
    if (offset === undefined) this.#peer.beganOld();
    else this.#peer.began(id, offset);
    return bytes.slice(dataset);
  }
}

/** The peer's link as the node's primary. */
class PrimaryLink implements Ear {
  readonly #peer: Peer;
  readonly #commands = new Commands();
  readonly end: TesterEnd;

  constructor(peer: Peer, end: TesterEnd) {
    this.#peer = peer;
    this.end = end;
  }

  hear(bytes: Bytes): void {
    for (const { words } of this.#commands.take(bytes)) this.#peer.told(this, words);
  }

  closed(): void {
    this.#peer.lost(this);
  }
}

export class Peer {
  readonly name: PeerName;
  readonly #stage: Stage;
  /** The id of the streams that this peer produces as a primary. */
  readonly id: Bytes;
  offer: Offer = 'a dataset';
  /** Lines about what has happened since the last step. */
  lines: string[] = [];
  /** How many messages it has sent: while they change, the node has more to handle. */
  sent = 0;
  #answers = true;
  /** Where the last REPLCONF GETACK that was not answered begins. */
  #unanswered: number | undefined;
  #replica: ReplicaLink | undefined;
  #stream = { id: '', offset: 0 };
  /** The offsets at which the commands that came over the link end, the last one last. */
  #ends: number[] = [];
  #primary: PrimaryLink | undefined;
  /** What the node has asked the primary: nothing yet, for a stream, and it has been given one. */
  progress: 'nothing' | 'asked' | 'given' | 'half given' = 'nothing';
  #offset = 0;
  /** What of a command, or of the dataset, has not been sent. */
  #rest: Bytes = '';
  #acknowledged: string | undefined;
  #wantsAcknowledgement = false;

  constructor(name: PeerName, stage: Stage) {
    this.name = name;
    this.#stage = stage;
    this.id = (name.at(-1) ?? '').repeat(40);
  }

  get follows(): boolean {
    return this.#replica?.streaming === true;
  }

  get leads(): boolean {
    return this.#primary !== undefined;
  }

  // As a replica

  /** Asks for the whole dataset, or for the stream from where this peer is. False where it has a link. */
  async follow(how: 'follow' | 'resume' | 'sync'): Promise<boolean> {
    if (this.#replica !== undefined) return false;
    const link = new ReplicaLink(this, how === 'sync');
    this.#replica = link;
    this.#unanswered = undefined;
    link.end = await this.#stage.join(link);
    if (how !== 'resume') this.#stream = { id: '', offset: 0 };
    const port = String(this.#stage.peerPorts.get(this.name));
    if (how === 'sync') this.#tell(link.end, ['SYNC']);
    else this.#tell(link.end, ['REPLCONF', 'listening-port', port], ['REPLCONF', 'capa', 'psync2']);
    await this.#stage.until(() => link.streaming || this.#replica !== link);
    return true;
  }

  introduced({ end }: ReplicaLink): void {
    const { id, offset } = this.#stream;
    const from = id === '' ? ['?', '-1'] : [id, String(offset + 1)];
    if (end !== undefined) this.#tell(end, ['PSYNC', ...from]);
  }

  began(id: Bytes, offset: number | undefined): void {
    this.#stream = { id: id === '' ? this.#stream.id : id, offset: offset ?? this.#stream.offset };
    this.#ends = [this.#stream.offset];
    this.lines.push(offset === undefined ? `CONTINUE ${id}` : `FULLRESYNC ${id} ${offset}`);
  }

  /** The dataset has come over a link that counts no offsets. */
  beganOld(): void {
    this.#ends = [0];
    this.lines.push('is given a dataset');
  }

  refused(error: string): void {
    this.lines.push(error);
    const link = this.#replica;
    this.#replica = undefined;
    link?.end?.close();
  }

  streamed(words: readonly string[], length: number): void {
    const asked = /^REPLCONF GETACK /i.test(words.join(' '));
    this.lines.push(
      `got ${words.map((word) => (/^[!-~]+$/.test(word) ? word : JSON.stringify(word))).join(' ')}`,
    );
    const before = this.#stream.offset;
    this.#stream.offset += length;
    this.#ends.push(this.#stream.offset);
    if (asked) this.#unanswered = before;
  }

  /** Answers the last REPLCONF GETACK, unless the peer has stopped. Returns whether it had one to answer. */
  answerAsked(): boolean {
    const offset = this.#unanswered;
    if (offset === undefined || !this.#answers) return false;
    this.#unanswered = undefined;
    this.#acknowledge(offset, undefined);
    return true;
  }

  #acknowledge(offset: number, synced: number | undefined): void {
    const words = ['REPLCONF', 'ACK', String(offset)];
    if (synced !== undefined) words.push('FACK', String(synced));
    if (this.#replica?.end !== undefined) this.#tell(this.#replica.end, words);
  }

  /** Stops to answer REPLCONF GETACK, or goes on. */
  answer(on: boolean): void {
    this.#answers = on;
  }

  /** Acknowledges all but so many commands. False where it does not follow. */
  ack(back: number, synced: number | undefined): boolean {
    if (!this.follows) return false;
    const at = (count: number): number => this.#ends.at(-1 - count) ?? this.#ends[0] ?? 0;
    this.#acknowledge(at(back), synced === undefined ? undefined : at(synced));
    return true;
  }

  leave(): boolean {
    const link = this.#replica;
    this.#replica = undefined;
    link?.end?.close();
    return link !== undefined;
  }

  // As a primary

  dialled(end: TesterEnd): Ear {
    // A node has one primary. That it has left the old link may be heard of only after the new one.
    if (this.#primary !== undefined) this.#left();
    this.#primary = new PrimaryLink(this, end);
    this.progress = 'nothing';
    this.lines.push(DIALLED);
    return this.#primary;
  }

  told(link: PrimaryLink, words: readonly string[]): void {
    const text = words.join(' ');
    if (/^REPLCONF ACK /i.test(text)) {
      this.#acknowledged = text;
      return;
    }
    this.lines.push(`asked ${text}`);
    if (/^PING$/i.test(text)) this.#write(link.end, '+PONG\r\n');
    else if (/^PSYNC /i.test(text)) this.#give(link, words);
    else this.#write(link.end, '+OK\r\n');
  }

  #give({ end }: PrimaryLink, [, , from = '']: readonly string[]): void {
    this.progress = 'asked';
    switch (this.offer) {
      case 'nothing':
        return;
      case 'a refusal':
        this.#write(end, '-ERR not now\r\n');
        return;
      case 'the rest':
        this.progress = 'given';
        this.#offset = Number(from) - 1;
        this.#write(end, `+CONTINUE ${this.id}\r\n`);
        return;
    }
    const isWhole = this.offer === 'a dataset';
    this.progress = isWhole ? 'given' : 'half given';
    this.#offset = 1000 * Number(this.name.at(-1));
    this.#rest = isWhole ? '' : DATASET.slice(HEAD);
    const dataset = isWhole ? DATASET : DATASET.slice(0, HEAD);
    this.#write(end, `+FULLRESYNC ${this.id} ${this.#offset}\r\n$${DATASET.length}\r\n${dataset}`);
  }

  /** Sends a command down the stream, behind what is left of the last. False where there is no link. */
  lead(words: readonly string[], half: boolean): boolean {
    const end = this.#primary?.end;
    if (end === undefined || this.progress === 'nothing' || this.progress === 'asked') return false;
    const bytes = this.#rest + (words.length === 0 ? '' : encodeRequest(words));
    const length = half ? Math.floor(bytes.length / 2) : bytes.length;
    if (!half) this.progress = 'given';
    this.#wantsAcknowledgement ||= /^REPLCONF GETACK/i.test(words.join(' ')) && !half;
    this.#rest = bytes.slice(length);
    this.#offset += length;
    this.#write(end, bytes.slice(0, length));
    return true;
  }

  drop(): boolean {
    const link = this.#primary;
    this.#primary = undefined;
    this.#rest = '';
    link?.end.close();
    return link !== undefined;
  }

  // Both

  lost(link: ReplicaLink | PrimaryLink): void {
    if (link === this.#replica) this.#replica = undefined;
    else if (link === this.#primary) this.#primary = undefined;
    else return;
    // Which of two links that end at once is heard of first is a matter of chance.
    if (link instanceof PrimaryLink) this.#left();
    else this.lines.splice(this.lines.at(-1) === LEFT ? -1 : this.lines.length, 0, 'is cut off');
  }

  /** A link that nothing was asked over may not be made at all, when the node changes its mind at once. */
  #left(): void {
    const at = this.lines.lastIndexOf(DIALLED);
    if (at >= 0 && this.progress === 'nothing' && !this.lines.slice(at).some((line) => /^asked/.test(line))) {
      this.lines.splice(at, 1);
    } else this.lines.push(LEFT);
  }

  /** The lines since the last call, with the acknowledgement that the node was asked for. */
  report(): string[] {
    const { lines } = this;
    this.lines = [];
    if (this.#wantsAcknowledgement && this.#acknowledged !== undefined) lines.push(this.#acknowledged);
    this.#wantsAcknowledgement = false;
    return lines.map((line) => `${this.name} ${line}`);
  }

  #tell(end: TesterEnd, ...requests: (readonly Bytes[])[]): void {
    this.#write(end, requests.map(encodeRequest).join(''));
  }

  #write(end: TesterEnd, bytes: Bytes): void {
    this.sent++;
    end.send(bytes);
  }
}
