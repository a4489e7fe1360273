/** The node that a Sentinel runs on: a server without data, whose commands are those of a Sentinel. */
import type { Bytes } from '../protocol/bytes.ts';
import type { Client } from '../server/clients/client.ts';
import type { Host } from '../server/host/host.ts';
import { type RequestPath, Server, type ServerOptions } from '../server/server.ts';
import type { Settings } from '../server/settings/settings.ts';
import { Sentinel } from './sentinel.ts';
import { Heartbeat } from './timer.ts';

/** What redis-sentinel sets otherwise than redis-server: it must be reachable, and stores no data. */
const SETTINGS: Partial<Settings> = { 'protected-mode': false, databases: 1, save: '' };

export class SentinelServer extends Server {
  override readonly mode = 'sentinel';
  readonly sentinel: Sentinel;
  readonly #heartbeat: Heartbeat;

  constructor(
    host: Host,
    path: RequestPath,
    options: Pick<ServerOptions, 'settings' | 'log' | 'elsewhere'>,
    id?: Bytes,
  ) {
    super(host, path, { ...options, settings: { ...SETTINGS, ...options.settings } });
    this.sentinel = new Sentinel(this, id ?? this.randomHex(40));
    const onCrash = (): void => void host.clock.soon(() => this.onShutdown());
    this.sentinel.onCrash = onCrash;
    this.#heartbeat = new Heartbeat(this.sentinel);
  }

  /** Begins to monitor. The server should listen by then, because it announces its port. */
  start(): void {
    this.log('notice', `Sentinel ID is ${this.sentinel.id}`);
    this.#heartbeat.start();
  }

  override stop(): void {
    this.#heartbeat.stop();
    this.sentinel.stop();
    super.stop();
  }
}

/** The client that sent a request to a Sentinel. */
export type SentinelCaller = Client<SentinelServer>;
