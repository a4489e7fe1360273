/** Short conversations with a server of ours in memory, for behaviour that no transcript of redis-server can show. */
import { encodeRequest } from '../../protocol/encode.ts';
import { splitInline } from '../../protocol/inline.ts';
import { connectInMemory } from '../../server/host/in-memory.ts';
import type { Server } from '../../server/server.ts';
import { RawClient } from './raw-client.ts';
import { until } from './until.ts';

/** One raw connection: lines in, bytes out. */
export class Talk {
  readonly #client: RawClient;
  #received = '';

  constructor(server: Server) {
    this.#client = new RawClient(connectInMemory(server.connections));
  }

  /** Received bytes that have not been taken. */
  get heard(): string {
    this.#received += this.#client.take();
    return this.#received;
  }

  /** Sends commands in one write, without waiting. */
  send(...lines: string[]): void {
    void this.#client.send(lines.map((line) => encodeRequest(splitInline(line) ?? [])).join(''));
  }

  /** Waits for bytes that the condition accepts (by default: any at all) and takes them. */
  async hear(enough: (bytes: string) => boolean = (bytes) => bytes !== ''): Promise<string> {
    await until(() => enough(this.heard), { what: 'a reply' });
    const bytes = this.#received;
    this.#received = '';
    return bytes;
  }

  /** Sends commands and returns the bytes that arrive. */
  ask(...lines: string[]): Promise<string> {
    this.send(...lines);
    return this.hear();
  }

  hangUp(): void {
    this.#client.close();
  }
}

/** Makes the server record its replication stream; returns the growing list, one line per command. */
export function recordEffects(server: Server): string[] {
  const lines: string[] = [];
  server.replication.observe({
    effects(effects, atomic) {
      if (atomic) lines.push('MULTI');
      for (const { argv } of effects) lines.push(argv.join(' '));
      if (atomic) lines.push('EXEC');
    },
  });
  return lines;
}
