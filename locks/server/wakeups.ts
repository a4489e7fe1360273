/**
 * Who waits for which message, in this process: one subscribed connection for all, and a queue of waiters per channel.
 *
 * A message is a hint and nothing more: it may come twice, too early or never. A waiter therefore subscribes, looks
 * again, and only then sleeps, never longer than its net; and after a lost connection everybody looks again at once.
 */
import type { LockClient, Subscriber } from '../clients/client.ts';
import { elapsed } from '../timing/clock.ts';
import { CallbackDeadline, Deadlines } from '../timing/deadlines.ts';

/** A waiter to whom the lock's holder of the same process can hand it over, in one step on the server. */
export interface Successor {
  readonly token: string;
  readonly ttlMs: number;
  /** The key of the marker that says that it has given up. */
  readonly markerKey?: string;
  /** The request that hands it over left at `sentAt`; its answer tells both. */
  receiveHandOver(reply: Promise<unknown>, sentAt: number): void;
}

/** One waiter on a channel. `look` ends its sleep. */
export interface ChannelWaiter {
  /** For whom it waits. */
  readonly owner: string;
  /** How many permits it wants; 1 for a lock. */
  readonly demand: number;
  /** Whether it could hold the lock together with others like it. */
  readonly shared: boolean;
  readonly successor?: Successor | undefined;
  /** Set when it was told to look and has not looked yet. */
  woken: boolean;
  look(): void;
}

/** Which of the waiters a message is for, in their order of arrival. */
export type Choose = (waiters: readonly ChannelWaiter[], text: string) => readonly ChannelWaiter[];

/** A lock that one may hold wakes the one that has waited longest. */
export const chooseFirst: Choose = (waiters) => waiters.slice(0, 1);
/** A gate that opened lets everybody through. */
export const chooseAll: Choose = (waiters) => waiters;

/**
 * After so many hand-overs the lock is released for all to hear; and where other processes wait too, this one pauses
 * then, for so many milliseconds.
 */
const HAND_OVERS = 10;
const PAUSE_MS = 5;

/** Whose last waiter got the lock, that channel stays subscribed so long, in milliseconds: the next one may come soon. */
const LINGER_MS = 100;

/** The waiters of this process on one channel. */
export class Channel {
  readonly name: string;
  readonly waiters: ChannelWaiter[] = [];
  readonly #choose: Choose;
  /** The first release tells how many others listen. */
  #handOvers = HAND_OVERS - 1;
  #pauses = false;
  /** How many other processes heard the last release. */
  others = 0;
  /** Who of this process holds what is waited for; messages need wake nobody before that hold ends. */
  holder: { readonly active: boolean } | undefined;
  /** Resolves when messages arrive, or when that has taken too long: then the sleepers' net has to do. */
  ready: Promise<void> = Promise.resolve();
  isReady = true;
  /** When nobody has waited for long. */
  readonly quiet: CallbackDeadline;

  /** @param onQuiet called when nobody has waited for a while */
  constructor(name: string, choose: Choose, onQuiet: (channel: Channel) => void) {
    this.quiet = new CallbackDeadline(0, () => onQuiet(this));
    this.name = name;
    this.#choose = choose;
  }

  message(text: string): void {
    if (this.holder?.active || this.#pauses) return;
    for (const waiter of [...this.#choose(this.waiters, text)]) wake(waiter);
  }

  /** Whether nobody of this process needs to look: somebody of it holds the lock, whose end will be told. */
  get isHeld(): boolean {
    return this.holder?.active === true;
  }

  /** The connection was away: whoever could get the lock looks. */
  lookAgain(): void {
    this.message('');
  }

  /** To whom of this process the lock may be handed over; nobody when it is time to let others hear of a release. */
  successor(): Successor | undefined {
    return this.#handOvers + 1 < HAND_OVERS && !this.#pauses ? this.waiters[0]?.successor : undefined;
  }

  /**
   * The lock's holder was of this process, and its release is leaving. The next one's request may follow on the same
   * connection at once: the server executes it right after the release.
   */
  handOver(): void {
    this.holder = undefined;
    const next = this.waiters[0];
    if (!next) return;
    const told = ++this.#handOvers >= HAND_OVERS;
    if (told) this.#handOvers = 0;
    if (!told || this.others === 0) {
      wake(next);
      return;
    }
    this.#pauses = true;
    setTimeout(() => {
      this.#pauses = false;
      this.lookAgain();
    }, PAUSE_MS);
  }

  /** Takes a waiter out; a wake-up it has not used goes to the next one. */
  leave(waiter: ChannelWaiter): void {
    const index = this.waiters.indexOf(waiter);
    if (index >= 0) this.waiters.splice(index, 1);
    if (waiter.woken) this.lookAgain();
  }

  /** Passes a wake-up on to the first waiter that satisfies the condition. */
  passOn(condition: (waiter: ChannelWaiter) => boolean): void {
    const next = this.waiters.find((waiter) => !waiter.woken && condition(waiter));
    if (next) wake(next);
  }
}

function wake(waiter: ChannelWaiter): void {
  waiter.woken = true;
  waiter.look();
}

export class Wakeups {
  readonly #client: LockClient;
  readonly #limitMs: number;
  readonly #channels = new Map<string, Channel>();
  /** When sleepers wake up by themselves. */
  readonly sleeps = new Deadlines(true);
  readonly #quiet = new Deadlines(false);
  #subscriber: Subscriber | undefined;
  #closed = false;

  constructor(client: LockClient, limitMs: number) {
    this.#client = client;
    this.#limitMs = limitMs;
  }

  /** The channel, if somebody of this process waits there, or did so just now. */
  peek(name: string): Channel | undefined {
    return this.#channels.size === 0 ? undefined : this.#channels.get(name);
  }

  /** A release was heard by so many connections, our own among them. */
  heardBy(name: string, receivers: number): void {
    const channel = this.#channels.get(name);
    if (channel) channel.others = receivers - (channel.isReady ? 1 : 0);
  }

  /** Joins the waiters of a channel; the first to come subscribes. */
  join(name: string, choose: Choose, waiter: ChannelWaiter): Channel {
    let channel = this.#channels.get(name);
    if (!channel) {
      channel = new Channel(name, choose, (quiet) => this.#drop(quiet));
      this.#channels.set(name, channel);
      if (!this.#closed) this.#open(channel);
    }
    channel.waiters.push(waiter);
    return channel;
  }

  /** Leaves a channel; the last to give up unsubscribes, the last to get the lock some time later. */
  leave(channel: Channel, waiter: ChannelWaiter): void {
    channel.leave(waiter);
    if (channel.waiters.length > 0) return;
    if (!channel.isHeld) this.#drop(channel);
    else {
      channel.quiet.at = elapsed() + LINGER_MS;
      this.#quiet.add(channel.quiet);
    }
  }

  #drop(channel: Channel): void {
    if (channel.waiters.length > 0 || this.#channels.get(channel.name) !== channel) return;
    this.#channels.delete(channel.name);
    if (!this.#closed) this.#subscriber?.unsubscribe(channel.name).catch(() => {});
  }

  #open(channel: Channel): void {
    channel.isReady = false;
    channel.ready = this.#subscribe(channel).then(() => {
      channel.isReady = true;
    });
  }

  async #subscribe(channel: Channel): Promise<void> {
    const subscriber = this.#connect();
    if (!subscriber) return;
    let late = false;
    let timer: NodeJS.Timeout | undefined;
    const confirmed = subscriber.subscribe(channel.name).then(
      () => {
        if (late) channel.lookAgain(); // Nobody has looked since; a message may have been missed.
      },
      () => {}, // Not to be had (no permission, no connection): the net has to do.
    );
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        late = true;
        resolve();
      }, this.#limitMs);
    });
    await Promise.race([confirmed, limit]);
    clearTimeout(timer);
  }

  /** The connection for messages; undefined where none is to be had: then the net has to do, and the next one tries. */
  #connect(): Subscriber | undefined {
    try {
      this.#subscriber ??= this.#client.openSubscriber({
        message: (name, text) => this.#channels.get(name)?.message(text),
        reconnected: () => {
          for (const each of this.#channels.values()) each.lookAgain();
        },
      });
    } catch {
      return undefined;
    }
    return this.#subscriber;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Closes the connection of the messages; whoever waits is told to look, and finds it closed. */
  close(): void {
    this.#closed = true;
    this.#quiet.clear();
    this.#subscriber?.close();
    this.#subscriber = undefined;
    const channels = [...this.#channels.values()];
    this.#channels.clear(); // Who comes now stands in no line.
    for (const { waiters } of channels) {
      for (const waiter of [...waiters]) wake(waiter);
    }
  }
}
