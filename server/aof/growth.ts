/** Rewrites the append-only file by itself when it has grown (auto-aof-rewrite-percentage, auto-aof-rewrite-min-size). */
import type { Timer } from '../host/host.ts';
import type { Server } from '../server.ts';

/** How often Redis' cron looks whether a rewrite is due, in milliseconds. */
const REVIEW_MS = 100;

/** The sizes that decide, in bytes. */
interface Sizes {
  readonly size: number;
  readonly sizeAtRewrite: number;
}

/** Watches the size of one node's append-only file. */
export class Growth {
  readonly #server: Server;
  readonly #files: Sizes;
  #timer: Timer | undefined;

  constructor(server: Server, files: Sizes) {
    this.#server = server;
    this.#files = files;
  }

  /** The file has grown: begins a rewrite at the next run of Redis' cron if one is due then. */
  review(): void {
    const { settings, host } = this.#server;
    if (settings['auto-aof-rewrite-percentage'] === 0 || this.#percent() === undefined) return;
    this.#timer ??= host.clock.at(host.clock.now() + REVIEW_MS, () => {
      this.#timer = undefined;
      const percent = this.#percent();
      if (percent === undefined) return;
      if (this.#server.dumpFile.rewriteByItself()) {
        this.#server.log('notice', `Starting automatic rewriting of AOF on ${percent}% growth`);
      } else {
        this.review();
      }
    });
  }

  /** By how many percent the file has grown since the last rewrite; undefined if that is no reason to rewrite it. */
  #percent(): number | undefined {
    const { settings } = this.#server;
    const { size, sizeAtRewrite } = this.#files;
    const percent = Math.floor((size * 100) / (sizeAtRewrite || 1)) - 100;
    const due =
      size > settings['auto-aof-rewrite-min-size'] && percent >= settings['auto-aof-rewrite-percentage'];
    return due ? percent : undefined;
  }

  /** Cancels the rewrite that is about to begin. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
