/** The same lines of several clients, told to a strict node and to the real server of its dialect. */
import type { DialectName } from '../../../server/dialects/index.ts';
import { connectInMemory } from '../../../server/host/in-memory.ts';
import { nodeHost } from '../../../server/host/node.ts';
import { createNode } from '../../../server/index.ts';
import { splitWords } from '../../transcripts/transcript.ts';
import { oracleOf } from '../oracles.ts';
import { RawClient } from '../raw-client.ts';
import { startRedisServer } from '../redis-server.ts';
import { printReply } from '../reply-text.ts';

/** Clients by name, opened when they are first needed, and their numbers. */
class Talkers {
  readonly #open: () => Promise<RawClient>;
  readonly #clients = new Map<string, RawClient>();
  readonly #ids = new Map<string, string>();

  constructor(open: () => Promise<RawClient>) {
    this.#open = open;
  }

  async ask(line: string): Promise<string> {
    const [, name = 'a', text = line] = /^([a-z])> (.*)$/s.exec(line) ?? [];
    const client = await this.#client(name);
    const words = [];
    for (const word of splitWords(text)) {
      const other = /^\{([a-z])\}$/.exec(word)?.[1];
      words.push(other === undefined ? word : await this.#id(other));
    }
    const [command = '', ...rest] = words;
    return this.#named(printReply((await client.ask(command, ...rest)).value));
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
  }

  /** The numbers of clients that the lines mention, as their names: the servers count from different numbers. */
  #named(reply: string): string {
    for (const [name, id] of this.#ids) reply = reply.replaceAll(`id=${id} addr=`, `id=${name} addr=`);
    return reply;
  }

  async #client(name: string): Promise<RawClient> {
    let client = this.#clients.get(name);
    if (client === undefined) this.#clients.set(name, (client = await this.#open()));
    return client;
  }

  async #id(name: string): Promise<string> {
    let id = this.#ids.get(name);
    if (id === undefined) {
      id = String((await (await this.#client(name)).ask('CLIENT', 'ID')).value[1]);
      this.#ids.set(name, id);
    }
    return id;
  }
}

/**
 * Tells the lines to both servers. Returns each line with its reply, from our node and from the real server.
 * @param lines requests; `b> GET k` is sent by the client b, and `{b}` stands for its number
 * @param shown what of a reply is compared
 */
export async function talkBeside(
  dialect: DialectName,
  lines: readonly string[],
  shown: (reply: string, line: string) => string = (reply) => reply,
): Promise<{ ours: string[]; theirs: string[] }> {
  await using real = await startRedisServer({
    args: ['--enable-debug-command', 'yes'],
    program: oracleOf(dialect) ?? '',
  });
  const node = createNode(nodeHost(real.dir), { dialect, strict: true });
  const sides = [
    new Talkers(async () => new RawClient(connectInMemory(node.connections))),
    new Talkers(() => RawClient.connect({ path: real.path })),
  ];
  const told: string[][] = [];
  for (const side of sides) {
    const replies: string[] = [];
    for (const line of lines) replies.push(`${line} -> ${shown(await side.ask(line), line)}`);
    told.push(replies);
    side.close();
  }
  node.stop();
  return { ours: told[0] ?? [], theirs: told[1] ?? [] };
}
