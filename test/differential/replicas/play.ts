/** Plays a program about replication on a stage, and tells in lines what each step brought about. */
import type { Bytes } from '../../../protocol/bytes.ts';
import { encodeRequest } from '../../../protocol/encode.ts';
import { ReplyReader } from '../../support/reply-reader.ts';
import { type RawReply, readReply } from '../../support/reply-text.ts';
import { Peer } from './peer.ts';
import { Printer } from './print.ts';
import { CLIENTS, MAX_LAG, PEERS, type PeerName, type Program, type Step } from './program.ts';
import type { Ear, Stage, TesterEnd } from './stage.ts';

/** A timeout that is waited for, in milliseconds: longer ones do not end within a program. */
const SOON = 1000;

/** One client of the program. */
class Speaker implements Ear {
  readonly name: string;
  end: TesterEnd | undefined;
  id = '';
  /** The requests that have no answer yet. */
  asked: (readonly string[])[] = [];
  heard: { readonly to: readonly string[]; readonly reply: RawReply }[] = [];
  closedByNode = false;
  #reader = new ReplyReader();

  constructor(name: string) {
    this.name = name;
  }

  async join(stage: Stage): Promise<void> {
    this.#reader = new ReplyReader();
    this.asked = [];
    this.end = await stage.join(this);
    this.say([['CLIENT', 'ID']]);
    await stage.until(() => this.heard.length > 0);
    this.id = String(this.heard.shift()?.reply[1]);
  }

  say(requests: readonly (readonly string[])[]): void {
    this.asked.push(...requests);
    this.end?.send(requests.map(encodeRequest).join(''));
  }

  hear(bytes: Bytes): void {
    this.#reader.write(bytes);
    for (const reply of this.#reader.take()) {
      this.heard.push({ to: this.asked.shift() ?? [], reply: readReply(reply) });
    }
  }

  closed(): void {
    this.closedByNode = true;
    this.end = undefined;
  }
}

/** The timeout of a request that waits, in milliseconds; undefined when it waits for ever or not at all. */
function timeoutOf(words: readonly string[]): number | undefined {
  const [name = '', ...rest] = words;
  if (!/^(WAIT|WAITAOF|BLPOP)$/i.test(name)) return undefined;
  const last = Number(rest.at(-1)) * (/^BLPOP$/i.test(name) ? 1000 : 1);
  return last > 0 ? last : undefined;
}

/** Servers that crash when CLIENT UNBLOCK names a client whose request a pause holds back. */
const CRASHES = /^redis_version:(7\.0|8\.0)|^valkey_version:8\./m;

/** The fields of INFO replication. */
async function stateOf(stage: Stage): Promise<Map<string, string>> {
  const [, text] = await stage.ask('INFO', 'replication');
  const fields = [...String(text).matchAll(/^(\w+):(.*?)\r?$/gm)];
  const [, role] = await stage.ask('ROLE');
  const state = Array.isArray(role) ? String((role as RawReply[])[3]?.[1] ?? '') : '';
  return new Map([
    ...fields.map(([, name = '', value = '']): [string, string] => [name, value]),
    ['state', state],
  ]);
}

/** False until the node, which counts good replicas once a second, has noticed how long each is silent. */
function countsGood(state: ReadonlyMap<string, string>): boolean {
  const counted = state.get('min_slaves_good_slaves');
  if (counted === undefined) return true;
  const lags = [...state].flatMap(([name, value]) =>
    /^slave\d+$/.test(name) ? [/lag=(\d+)/.exec(value)?.[1]] : [],
  );
  return lags.filter((lag) => Number(lag) <= MAX_LAG).length === Number(counted);
}

class Play {
  readonly #stage: Stage;
  readonly #printer: Printer;
  readonly #speakers: readonly Speaker[] = CLIENTS.map((name) => new Speaker(name));
  readonly #peers: ReadonlyMap<PeerName, Peer>;
  /** The words of the last FAILOVER. */
  #failover: readonly string[] = [];
  /** The node must not be asked to unblock a client whose request may be held back. */
  #crashes = false;
  /** A client has asked for something that holds requests back. */
  #holds = false;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#peers = new Map(PEERS.map((name) => [name, new Peer(name, stage)]));
    this.#printer = new Printer(stage);
    stage.onDial = (peer, end) => this.#peer(peer).dialled(end);
  }

  #peer(name: PeerName): Peer {
    return this.#peers.get(name)!;
  }

  async begin(): Promise<void> {
    for (const speaker of this.#speakers) await speaker.join(this.#stage);
    // Valkey 9 would send a PING at some moment, because its stream has never grown. WAIT lets the offset grow.
    const [, about] = await this.#stage.ask('INFO', 'server');
    this.#crashes = CRASHES.test(String(about));
    if (/valkey_version:9/.test(String(about))) await this.#stage.ask('WAIT', '1', '1');
  }

  async perform(step: Step): Promise<string[]> {
    const did = await this.#carryOut(step);
    if (!did) return ['(skipped)'];
    await this.#quieten();
    const isStable = await this.#stage.until(() => this.#isStable());
    await this.#quieten();
    const lines: string[] = [];
    for (const speaker of this.#speakers) {
      const { name, heard, closedByNode } = speaker;
      for (const { to, reply } of heard.splice(0)) lines.push(`< ${name} ${this.#printer.reply(to, reply)}`);
      if (!closedByNode) continue;
      lines.push(`< ${name} (closed)`);
      speaker.closedByNode = false;
      await speaker.join(this.#stage);
    }
    for (const peer of this.#peers.values()) {
      for (const line of peer.report()) lines.push(`> ${this.#printer.text(line)}`);
    }
    if (!isStable) lines.push('(never becomes stable)');
    return lines;
  }

  /** Resolves when the node has handled everything, and the peers' answers to that, which come one by one. */
  async #quieten(): Promise<void> {
    const peers = [...this.#peers.values()];
    const sent = (): number => peers.reduce((sum, peer) => sum + peer.sent, 0);
    for (let before = -1; before !== sent() || peers.some((peer) => peer.answerAsked()); ) {
      before = sent();
      await this.#stage.settle();
    }
  }

  /** True when nothing will happen by itself: no timeout is near, no link is being made, no failover can go on. */
  async #isStable(): Promise<boolean> {
    for (const { end, asked } of this.#speakers) {
      const timeout = end === undefined ? undefined : timeoutOf(asked[0] ?? []);
      if (timeout !== undefined && timeout < SOON) return false;
    }
    const state = await stateOf(this.#stage);
    if (!countsGood(state)) return false;
    const failover = state.get('master_failover_state');
    if (failover === 'waiting-for-sync') return !this.#canHandOver(state);
    if (state.get('role') !== 'slave') return true;
    const port = Number(state.get('master_port'));
    const peer = [...this.#peers.values()].find(({ name }) => this.#stage.peerPorts.get(name) === port);
    if (peer === undefined) return true;
    if (peer.progress === 'given') return state.get('state') === 'connected' && failover === 'no-failover';
    if (peer.progress === 'half given') return state.get('master_sync_read_bytes') !== '0';
    return peer.progress === 'asked' && peer.offer === 'nothing' && peer.leads;
  }

  #canHandOver(state: ReadonlyMap<string, string>): boolean {
    const words = this.#failover.map((word) => word.toUpperCase());
    const timeout = Number(words[words.indexOf('TIMEOUT') + 1] ?? 0);
    if (words.includes('TIMEOUT') && timeout > 0 && timeout < SOON) return true;
    const port = words.includes('TO') ? words[words.indexOf('TO') + 2] : undefined;
    return [...state].some(([name, value]) => {
      const [, at, offset] = /port=(\d+),.*offset=(\d+)/.exec(value) ?? [];
      const isHeir = /^slave\d+$/.test(name) && (port === undefined || at === port);
      return isHeir && offset === state.get('master_repl_offset');
    });
  }

  /** Returns false for a step that makes no sense now, such as a request of a client that waits. */
  async #carryOut(step: Step): Promise<boolean> {
    const stage = this.#stage;
    switch (step.kind) {
      case 'ask':
        return this.#ask(step.who, step.requests);
      case 'hang up':
        return this.#hangUp(step.who);
      case 'time':
        await stage.pass();
        return true;
      case 'lag':
        return this.#letLag();
      case 'follow':
      case 'resume':
      case 'sync':
        return this.#peer(step.who).follow(step.kind);
      case 'stop':
      case 'continue':
        this.#peer(step.who).answer(step.kind === 'continue');
        return true;
      case 'ack':
        return this.#peer(step.who).ack(step.back, step.synced);
      case 'leave':
        return this.#peer(step.who).leave();
      case 'offer':
        this.#peer(step.who).offer = step.offer;
        return true;
      case 'send':
        return this.#peer(step.who).lead(step.words, step.half);
      case 'drop':
        return this.#peer(step.who).drop();
    }
  }

  #speaker(name: string): Speaker {
    const found = this.#speakers.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no client ${name}`);
    return found;
  }

  #ask(name: string, requests: readonly (readonly string[])[]): boolean {
    const speaker = this.#speaker(name);
    if (speaker.asked.length > 0) return false;
    this.#holds ||= requests.some((words) => /^(CLIENT PAUSE|FAILOVER)/i.test(words.join(' ')));
    if (this.#crashes && this.#holds && requests.some((words) => this.#unblocksHeld(words))) return false;
    const words = requests.map((request) => request.map((word) => this.#resolved(word)));
    this.#failover = words.findLast(([first = '']) => /^FAILOVER$/i.test(first)) ?? this.#failover;
    speaker.say(words);
    return true;
  }

  /** True if the client that CLIENT UNBLOCK names may wait for the end of a pause. WAIT is not held back. */
  #unblocksHeld([name = '', sub = '', id = '']: readonly string[]): boolean {
    if (!/^CLIENT UNBLOCK$/i.test(`${name} ${sub}`)) return false;
    const [waiting] = this.#speakers.find((each) => id === `<${each.name}>`)?.asked ?? [];
    return waiting !== undefined && !/^WAIT/i.test(waiting[0] ?? '');
  }

  #resolved(word: string): string {
    const [, name] = /^<(\w+)>$/.exec(word) ?? [];
    if (name === undefined) return word;
    const peer = PEERS.find((each) => each === name);
    return peer === undefined ? this.#speaker(name).id : String(this.#stage.peerPorts.get(peer));
  }

  async #hangUp(name: string): Promise<boolean> {
    const speaker = this.#speaker(name);
    speaker.end?.close();
    await this.#stage.settle();
    await speaker.join(this.#stage);
    return true;
  }

  async #letLag(): Promise<boolean> {
    const state = await stateOf(this.#stage);
    if (state.get('min_slaves_good_slaves') === undefined) return false;
    return this.#stage.until(async () => (await stateOf(this.#stage)).get('min_slaves_good_slaves') === '0');
  }
}

/** Plays the program from the beginning, on a stage that was started for it. Returns the lines of each step. */
export async function play({ steps }: Program, stage: Stage): Promise<string[][]> {
  const played = new Play(stage);
  await played.begin();
  const outcomes: string[][] = [];
  for (const step of steps) outcomes.push(await played.perform(step));
  return outcomes;
}
