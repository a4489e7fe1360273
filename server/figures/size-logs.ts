/** Valkey's logs of large requests and large replies (https://valkey.io/commands/commandlog/). */
import type { Bytes } from '../../protocol/bytes.ts';
import { encodeReply } from '../../protocol/encode.ts';
import { type Client, SCRIPT } from '../clients/client.ts';
import type { HasDialect, HasHost, HasSettings } from '../ports.ts';
import { type Command, SKIP_SLOWLOG } from '../table/command.ts';
import { BLOCKED, type Outcome, Unanswered } from '../table/outcome.ts';
import { redacted } from './redaction.ts';
import { CommandLog } from './slowlog.ts';

/** The node, as these logs see it. */
interface LoggedNode extends HasDialect, HasHost, HasSettings {
  /** The client whose request is running. */
  readonly running: Client | undefined;
}

/** What is known about a client's request until it is answered. */
interface SizedRequest {
  /** The size of the request in bytes. */
  readonly size: number;
  /** The bytes of output that the client had been sent before. */
  readonly outputBefore: number;
  command: Command | undefined;
  argv: readonly Bytes[];
  /** True while the client is blocked. */
  waits: boolean;
}

/** Returns the size of a request in RESP, in bytes. */
export function sizeOf(argv: readonly Bytes[]): number {
  let size = 3 + String(argv.length).length;
  for (const word of argv) size += word.length + 5 + String(word.length).length;
  return size;
}

/** The logs of large requests and large replies of a node. */
export class SizeLogs {
  readonly requests = new CommandLog();
  readonly replies = new CommandLog();
  /** False while nothing is logged, or the dialect's server has no such logs. */
  active = false;
  readonly #server: LoggedNode;
  readonly #pending = new WeakMap<Client, SizedRequest>();

  constructor(server: LoggedNode) {
    this.#server = server;
  }

  configure(): void {
    const { dialect, settings } = this.#server;
    const [request, reply] = [
      settings['commandlog-request-larger-than'],
      settings['commandlog-reply-larger-than'],
    ];
    this.active = dialect.sizeLogs && (request >= 0 || reply >= 0);
    this.requests.limit = settings['commandlog-large-request-max-len'];
    this.replies.limit = settings['commandlog-large-reply-max-len'];
  }

  /** Called when a client's request starts. */
  begin(client: Client, argv: readonly Bytes[]): void {
    const { written } = client.output;
    this.#pending.set(client, {
      size: sizeOf(argv),
      outputBefore: written,
      command: undefined,
      argv,
      waits: false,
    });
  }

  /**
   * Called when a command has run: that of the request, or one that its transaction or script calls. Each counts with
   * the size of the whole request, or one of a script with that of its own reply.
   * @param outcome if it is BLOCKED, the request is logged when it is answered
   */
  ended(client: Client, command: Command, argv: readonly Bytes[], outcome: Outcome): void {
    const blocked = outcome === BLOCKED;
    const caller = this.#server.running ?? client;
    const pending = this.#pending.get(caller);
    if (pending === undefined) return;
    if (!client.has(SCRIPT)) {
      pending.command = command;
      pending.argv = argv;
      pending.waits = blocked;
    }
    if (blocked) return;
    const ofReply = client.has(SCRIPT) && this.#server.dialect.sizesInScript === 'of the reply';
    this.#log('request', caller, command, argv, ofReply ? 0 : pending.size);
    if (!client.has(SCRIPT)) return;
    const answers = ofReply && !(outcome instanceof Unanswered);
    const amount = answers
      ? encodeReply(outcome, client.protocol, this.#server.dialect.printDouble).length
      : 0;
    this.#log('reply', caller, command, argv, amount);
  }

  /** Called when a client was sent a reply, or a transaction the reply of one of its commands. */
  answered(client: Client): void {
    const pending = this.#pending.get(client);
    if (pending?.command === undefined) return;
    const { command, argv, size, waits, outputBefore } = pending;
    if (waits) this.#log('request', client, command, argv, size);
    pending.command = undefined;
    this.#log('reply', client, command, argv, client.output.written - outputBefore);
  }

  #log(
    what: 'request' | 'reply',
    client: Client,
    command: Command,
    argv: readonly Bytes[],
    amount: number,
  ): void {
    const threshold = this.#server.settings[`commandlog-${what}-larger-than`];
    if (threshold < 0 || amount < threshold || (command.bits & SKIP_SLOWLOG) !== 0) return;
    const second = Math.floor(this.#server.host.clock.now() / 1000);
    const address = client.connection?.remote ?? '';
    const entry = {
      second,
      amount,
      argv: redacted(command, argv, this.#server.dialect.hides),
      address,
      name: client.name,
    };
    (what === 'request' ? this.requests : this.replies).add(entry);
  }
}
