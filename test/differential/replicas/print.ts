/** Prints what came of a step, with names in the place of what each server chooses: ports, ids and times. */
import { printReply, type RawReply } from '../../support/reply-text.ts';
import { PEERS } from './program.ts';
import type { Stage } from './stage.ts';

const NONE = '0'.repeat(40);

/** Fields of INFO replication that count seconds. */
const SECONDS = /_(seconds(_ago)?|time_sec)$/;

/** The field that no real server has. */
const OURS = 'master_link_error';

/** What replicas of Redis 8 offer and ours do not (docs/differences.md). */
const RDB_CHANNEL = ' capa rdb-channel-repl';

export class Printer {
  readonly #ids = new Map<string, string>([[NONE, 'none']]);
  readonly #ports: readonly (readonly [RegExp, string])[];

  constructor(stage: Stage) {
    for (const peer of PEERS) this.#ids.set((peer.at(-1) ?? '').repeat(40), `id-of-${peer}`);
    const named = [
      ...PEERS.map((peer) => [stage.peerPorts.get(peer), peer] as const),
      [stage.port, 'node'] as const,
    ];
    this.#ports = named.map(([port, name]) => [new RegExp(`(?<!\\d)${port}(?!\\d)`, 'g'), `<${name}>`]);
  }

  /** A text with names for ports, ids and times. */
  text(text: string): string {
    for (const [port, name] of this.#ports) text = text.replace(port, name);
    return text
      .replace(/\b[0-9a-f]{40}\b/g, (id) => {
        const name = this.#ids.get(id) ?? `id${this.#ids.size - PEERS.length}`;
        this.#ids.set(id, name);
        return name;
      })
      .replace(RDB_CHANNEL, '')
      .replace(/\b1[5-9]\d{11}\b/g, '<time>')
      .replace(/lag=\d+/g, 'lag=<n>');
  }

  /** The reply to a request, as one line. */
  reply(to: readonly string[], reply: RawReply): string {
    const [mark, value] = reply;
    if (!/^INFO$/i.test(to[0] ?? '') || mark !== '$' || typeof value !== 'string') {
      return this.text(printReply(reply));
    }
    const fields = [...value.matchAll(/^(\w+):(.*?)\r?$/gm)].flatMap(([, name = '', text = '']) => {
      if (name === OURS) return [];
      return [`${name}:${SECONDS.test(name) && text !== '-1' ? '<n>' : text}`];
    });
    return this.text(fields.join(' '));
  }
}
