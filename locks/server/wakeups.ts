/**
 * The waiters of this process: one Pub/Sub connection for all of them, and a queue of waiters per channel.
 *
 * A message is only a hint: it may come twice, too early or never. A waiter therefore subscribes, checks the lock again, and
 * only then sleeps, for a limited time; after a lost connection the waiters check at once.
 */
import { randomInt } from 'node:crypto';
import type { LockClient, Subscriber } from '../clients/client.ts';
import { elapsed, LONGEST_TIMER_MS } from '../timing/clock.ts';
import { CallbackDeadline, Deadlines } from '../timing/deadlines.ts';

/** A waiter to which a holder in the same process can hand the lock over, by one command. */
export interface Successor {
  readonly token: string;
  readonly ttlMs: number;
  /** The key of the marker for an abandoned request. */
  readonly markerKey?: string;
  /** The request that hands the lock over was sent at `sentAt`; its reply is for both. */
  receiveHandOver(reply: Promise<unknown>, sentAt: number): void;
}

export interface ChannelWaiter {
  /** The owner for which it waits. */
  readonly owner: string;
  /** How many permits it wants; 1 for a lock. */
  readonly demand: number;
  /** Whether it can share the lock with other such waiters. */
  readonly shared: boolean;
  readonly successor?: Successor | undefined;
  /** Whether it was notified and has not checked the lock since. */
  woken: boolean;
  /** Ends its sleep. */
  look(): void;
}

/** Chooses the waiters to notify of a message; they are given in order of arrival. */
export type Choose = (waiters: readonly ChannelWaiter[], text: string) => readonly ChannelWaiter[];

/** For an exclusive lock: the waiter that has waited longest. */
export const chooseFirst: Choose = (waiters) => waiters.slice(0, 1);
/** For a latch: all waiters. */
export const chooseAll: Choose = (waiters) => waiters;

/**
 * After this many hand-overs within the process, a release is published. If other processes wait too, the waiters of
 * this process then pause for PAUSE_MS milliseconds.
 */
const HAND_OVERS = 10;
const PAUSE_MS = 5;

/**
 * The message of an attempt that was undone: a server is free again, but no holder has left. If each such message made waiters
 * check at once, then a waiter whose attempts are undone on one server would wake itself and the others for ever.
 */
export const UNDONE = 'undone';

/** After such a message, waiters check within this many milliseconds, and twice as many after each further one. */
const UNDONE_MS = 20;
const LONGEST_UNDONE_MS = 1000;

/** How long a channel stays subscribed after its last waiter got the lock, in milliseconds: the next may come soon. */
const LINGER_MS = 100;

/** The waiters of this process on one channel. */
export class Channel {
  readonly name: string;
  readonly waiters: ChannelWaiter[] = [];
  readonly #choose: Choose;
  /** So that the first release is published: its reply says how many others listen. */
  #handOvers = HAND_OVERS - 1;
  #pauses = false;
  /** How many checks messages of undone attempts have caused since the last release. */
  #undone = 0;
  /** The next of them. */
  readonly soon = new CallbackDeadline(0, () => this.#wake(''));
  readonly #timers: Deadlines;
  /** How many other processes received the message of the last release. */
  others = 0;
  /** The hold of this process on the lock, if any; until it ends, messages are ignored. */
  holder: { readonly active: boolean } | undefined;
  /** Resolves when the channel is subscribed, or that takes too long; then waiters rely on their longest sleep. */
  ready: Promise<void> = Promise.resolve();
  isReady = true;
  /** When to unsubscribe if no waiter comes. */
  readonly quiet: CallbackDeadline;

  /**
   * @param onQuiet called when there was no waiter for a while
   * @param timers for checks that messages cause later
   */
  constructor(name: string, choose: Choose, onQuiet: (channel: Channel) => void, timers: Deadlines) {
    this.#timers = timers;
    this.quiet = new CallbackDeadline(0, () => onQuiet(this));
    this.name = name;
    this.#choose = choose;
  }

  message(text: string): void {
    if (text === UNDONE) {
      this.#lookSoon();
      return;
    }
    this.#undone = 0;
    this.#wake(text);
  }

  #wake(text: string): void {
    if (this.holder?.active || this.#pauses) return;
    for (const waiter of [...this.#choose(this.waiters, text)]) wake(waiter);
  }

  /** An attempt was undone: the next waiter checks after a random while, which grows until the next release. */
  #lookSoon(): void {
    if (this.soon.linked || this.waiters.length === 0) return;
    const longestMs = Math.min(UNDONE_MS * 2 ** this.#undone++, LONGEST_UNDONE_MS);
    this.soon.at = elapsed() + randomInt(longestMs / 2, longestMs + 1);
    this.#timers.add(this.soon);
  }

  /** Whether this process holds the lock, so that its waiters will be notified and need not check. */
  get isHeld(): boolean {
    return this.holder?.active === true;
  }

  /** The connection was lost for a while: waiters that could get the lock check it. */
  lookAgain(): void {
    this.#wake('');
  }

  /** The waiter to hand the lock over to; none when it is time to publish a release to other processes. */
  successor(): Successor | undefined {
    return this.#handOvers + 1 < HAND_OVERS && !this.#pauses ? this.waiters[0]?.successor : undefined;
  }

  /**
   * A holder of this process is sending its release. The next waiter's request can follow at once on the same connection:
   * the server executes it right after the release.
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

  /** Removes a waiter; a notification that it has not used goes to the next one. */
  leave(waiter: ChannelWaiter): void {
    const index = this.waiters.indexOf(waiter);
    if (index >= 0) this.waiters.splice(index, 1);
    if (waiter.woken) this.lookAgain();
  }

  /** Passes a notification on to the first waiter that satisfies the condition. */
  passOn(condition: (waiter: ChannelWaiter) => boolean): void {
    const next = this.waiters.find((waiter) => !waiter.woken && condition(waiter));
    if (next) wake(next);
  }
}

function wake(waiter: ChannelWaiter): void {
  waiter.woken = true;
  waiter.look();
}

/** The Pub/Sub connection to one server, and the channels on it. */
export class Wakeups {
  readonly #client: LockClient;
  readonly #limitMs: number;
  readonly #channels = new Map<string, Channel>();
  /** When sleeping waiters wake up by themselves. */
  readonly sleeps = new Deadlines(true);
  readonly #quiet = new Deadlines(false);
  #subscriber: Subscriber | undefined;
  #closed = false;

  constructor(client: LockClient, limitMs: number) {
    this.#client = client;
    this.#limitMs = limitMs;
  }

  /** The channel, if it has or recently had waiters of this process. */
  peek(name: string): Channel | undefined {
    return this.#channels.size === 0 ? undefined : this.#channels.get(name);
  }

  /** Records how many connections, including our own, received the message of a release. */
  heardBy(name: string, receivers: number): void {
    const channel = this.#channels.get(name);
    if (channel) channel.others = receivers - (channel.isReady ? 1 : 0);
  }

  /** Adds a waiter to a channel; the first one subscribes. */
  join(name: string, choose: Choose, waiter: ChannelWaiter): Channel {
    let channel = this.#channels.get(name);
    if (!channel) {
      channel = new Channel(name, choose, (quiet) => this.#drop(quiet), this.#quiet);
      this.#channels.set(name, channel);
      if (!this.#closed) this.#open(channel);
    }
    channel.waiters.push(waiter);
    return channel;
  }

  /** Removes a waiter. After the last one the channel is unsubscribed: at once if it gave up, later if it got the lock. */
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
    this.#quiet.remove(channel.soon);
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
        if (late) channel.lookAgain(); // No waiter has checked since; a message may have been missed.
      },
      () => {}, // No permission or no connection: waiters rely on their longest sleep.
    );
    const limit = new Promise<void>((resolve) => {
      const giveUp = (): void => {
        late = true;
        resolve();
      };
      timer = setTimeout(giveUp, Math.min(this.#limitMs, LONGEST_TIMER_MS));
    });
    await Promise.race([confirmed, limit]);
    clearTimeout(timer);
  }

  /** The Pub/Sub connection; undefined if it cannot be opened, in which case the next waiter tries again. */
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

  /** Closes the Pub/Sub connection and wakes all waiters, which then find it closed. */
  close(): void {
    this.#closed = true;
    this.#quiet.clear();
    this.#subscriber?.close();
    this.#subscriber = undefined;
    const channels = [...this.#channels.values()];
    this.#channels.clear(); // Later waiters are not queued.
    for (const { waiters } of channels) {
      for (const waiter of [...waiters]) wake(waiter);
    }
    this.sleeps.close();
  }
}
