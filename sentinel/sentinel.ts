/** The state of a Sentinel: its id and epoch, the primaries that it monitors, and the events that it publishes. */
import type { Bytes, Millis } from '../protocol/bytes.ts';
import type { SentinelTraits } from '../server/dialects/sentinel.ts';
import type { Connection, Host, PendingConnection, Receiver } from '../server/host/host.ts';
import { silence } from '../server/host/silence.ts';
import type { LogLevel } from '../server/ports.ts';
import { dial } from '../server/replication/dial.ts';
import type { Settings } from '../server/settings/settings.ts';
import type { Address } from './address.ts';
import {
  defaultGlobals,
  defaultPeriods,
  type GlobalSettings,
  type Periods,
} from './configuration/settings.ts';
import type { Dialler } from './connection.ts';
import type { Instance, OtherSentinel, Primary } from './instances.ts';

/** The node that a Sentinel runs on: it has clients, who subscribe to events. */
export interface SentinelHome {
  readonly host: Host;
  readonly now: Millis;
  readonly settings: Settings;
  readonly dialect: { readonly sentinel: SentinelTraits };
  readonly pubsub: { publish(channel: Bytes, text: Bytes): number };
  log(level: LogLevel, text: string): void;
  /** Runs work as one execution unit. */
  unit<T>(work: () => T): T;
  /** Ends an event: sends the queued output. */
  settle(): void;
}

/** An event, as subscribers see it. */
export interface SentinelEvent {
  /** The name of the event, such as `+sdown`. */
  readonly type: Bytes;
  /** Its text, such as `master mymaster 127.0.0.1 6379`. */
  readonly text: Bytes;
  /** When it happened: milliseconds since the epoch, by the Sentinel's clock. */
  readonly at: Millis;
}

/** One Sentinel (https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/). */
export class Sentinel implements Dialler {
  readonly home: SentinelHome;
  readonly periods: Periods = defaultPeriods();
  readonly globals: GlobalSettings = defaultGlobals();
  id: Bytes;
  epoch = 0;
  readonly primaries = new Map<Bytes, Primary>();
  /** True while the clock or the process looked unreliable: nothing is decided. */
  isTilted = false;
  tiltedSince: Millis = 0;
  tilts = 0;
  /** At which points this Sentinel crashes on purpose (SENTINEL SIMULATE-FAILURE), as bits: 1 and 2. */
  simulatedFailures = 0;
  /** Stores the configuration. It is replaced where there is a disk for it. Returns false when it failed. */
  store: () => boolean = () => true;
  /** Ends the process because of SIMULATE-FAILURE. */
  onCrash: () => void = () => {};
  /** Observes every event, besides subscribers. */
  onEvent: (event: SentinelEvent) => void = () => {};

  constructor(home: SentinelHome, id: Bytes) {
    this.home = home;
    this.id = id;
  }

  /** How Sentinels of the server that it answers as behave. */
  get traits(): SentinelTraits {
    return this.home.dialect.sentinel;
  }

  get host(): Host {
    return this.home.host;
  }

  /** The time of the current execution unit. */
  get now(): Millis {
    return this.home.now;
  }

  /**
   * How long there has been silence since this time, in milliseconds. The stalls of this process do not count.
   * @param limit from how many milliseconds on the silence matters
   */
  silence(since: Millis, limit: Millis): Millis {
    return silence(this.host, this.now, since, limit);
  }

  dial(
    address: Address,
    receiver: Receiver,
    opened: (connection: Connection) => void,
  ): PendingConnection | undefined {
    const { host, settings } = this.home;
    return dial(host, settings['tls-replication'], address, receiver, opened);
  }

  /** The port at which other Sentinels and clients reach this one. */
  get port(): number {
    const { port, 'tls-port': tlsPort, 'tls-replication': withTls } = this.home.settings;
    return this.globals['announce-port'] || (withTls && tlsPort !== 0 ? tlsPort : port);
  }

  enter(work: () => void): void {
    this.home.unit(work);
    this.home.settle();
  }

  /**
   * Logs an event and publishes it on the channel of its name.
   * @param about the instance that the message begins with, if any
   */
  event(level: LogLevel, type: Bytes, about: Instance | undefined, text: Bytes = ''): void {
    const gap = about !== undefined && text !== '' ? ' ' : '';
    this.announce(level, type, `${about?.description ?? ''}${gap}${text}`);
  }

  /** Logs and publishes an event with this text. */
  announce(level: LogLevel, type: Bytes, text: Bytes): void {
    this.home.log(level, `${type} ${text}`);
    this.onEvent({ type, text, at: this.now });
    this.home.pubsub.publish(type, text);
  }

  /** Begins a new epoch, or follows another Sentinel into it. */
  enterEpoch(epoch: number): void {
    this.epoch = epoch;
    this.announce('warning', '+new-epoch', String(epoch));
  }

  /** Every other Sentinel, of every primary. */
  *otherSentinels(): Iterable<OtherSentinel> {
    for (const primary of this.primaries.values()) yield* primary.sentinels.values();
  }

  /** Stores the configuration, in case it has changed. Logs a failure. */
  flush(): boolean {
    const stored = this.store();
    if (!stored) this.home.log('warning', 'The configuration of this Sentinel could not be stored');
    return stored;
  }

  /** Crashes if SIMULATE-FAILURE asked for it at this point. */
  crashIfAsked(point: 1 | 2): void {
    if ((this.simulatedFailures & point) === 0) return;
    this.home.log('warning', 'Sentinel CRASH because of SENTINEL simulate-failure');
    this.onCrash();
  }

  /** Closes every connection. */
  stop(): void {
    for (const primary of this.primaries.values()) {
      primary.link.close();
      for (const replica of primary.replicas.values()) replica.link.close();
      for (const other of primary.sentinels.values()) other.link.close();
    }
  }
}
