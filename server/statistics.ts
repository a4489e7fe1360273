/** What a node counts: connections, commands, expiries, and every command's calls. */
import type { Bytes } from '../protocol/bytes.ts';

/** Distinct unknown requests that are remembered. */
const UNKNOWN_MAX = 1000;

export class Statistics {
  commands = 0;
  connections = 0;
  rejected = 0;
  queryBufferDisconnections = 0;
  expired = 0;
  evicted = 0;
  /** Mistakes of ours that were answered as errors. */
  internalErrors = 0;
  /** Per command, by serial: calls, refusals and failures. */
  readonly calls: Uint32Array;
  readonly refused: Uint32Array;
  readonly failed: Uint32Array;
  /** Requests that named no command of ours, by their first words. */
  readonly unknownCommands = new Map<string, number>();

  constructor(commands: number) {
    this.calls = new Uint32Array(commands);
    this.refused = new Uint32Array(commands);
    this.failed = new Uint32Array(commands);
  }

  /** Counts a request for a command that does not exist. */
  unknown(argv: readonly Bytes[]): void {
    const words = argv.slice(0, 2).join(' ').slice(0, 128);
    const known = this.unknownCommands.get(words);
    if (known !== undefined || this.unknownCommands.size < UNKNOWN_MAX) {
      this.unknownCommands.set(words, (known ?? 0) + 1);
    }
  }

  /** Sets everything but the list of unknown commands to zero (CONFIG RESETSTAT). */
  reset(): void {
    Object.assign(this, {
      commands: 0,
      connections: 0,
      rejected: 0,
      queryBufferDisconnections: 0,
      expired: 0,
      evicted: 0,
      internalErrors: 0,
    });
    this.calls.fill(0);
    this.refused.fill(0);
    this.failed.fill(0);
  }
}
