/** What requests cost each slot of a cluster: CLUSTER SLOT-STATS (https://redis.io/docs/latest/commands/cluster-slot-stats/). */
import type { Bytes } from '../../protocol/bytes.ts';
import { encodeReply, encodeRequest } from '../../protocol/encode.ts';
import { PushReply } from '../../protocol/reply.ts';
import { SLOT_COUNT, slotOf } from '../../protocol/slot.ts';
import { type Client, SCRIPT } from '../clients/client.ts';
import type { Command } from '../table/command.ts';
import { type Outcome, Unanswered } from '../table/outcome.ts';
import { sizeOf } from './size-logs.ts';

/** The figures, by the names of CLUSTER SLOT-STATS. */
export type SlotFigure = 'cpu-usec' | 'network-bytes-in' | 'network-bytes-out';

/** The bytes of MULTI, which is counted with EXEC. */
const MULTI_SIZE = sizeOf(['MULTI']);

/** A request until it is answered. */
interface Charged {
  /** In bytes. */
  readonly size: number;
  /** The bytes of output that the client had been sent before. */
  readonly outputBefore: number;
  /** The slot of its keys; undefined if it has none, or if a script of it has called a command. */
  slot: number | undefined;
  /** True once a command has run: the reply of a refused or queued request is not counted. */
  ran: boolean;
  /** The time in microseconds that its command took before it blocked the client. */
  micros: number;
}

/** The figures of all slots, and the requests that they are counted for. */
export class SlotUsage {
  readonly #figures: Readonly<Record<SlotFigure, Float64Array>> = {
    'cpu-usec': new Float64Array(SLOT_COUNT),
    'network-bytes-in': new Float64Array(SLOT_COUNT),
    'network-bytes-out': new Float64Array(SLOT_COUNT),
  };
  readonly #pending = new WeakMap<Client, Charged>();
  /** The request that is running. */
  #current: Charged | undefined;
  /** The slot of the command that a script is calling. */
  #called: number | undefined;

  /** The figure of a slot since the last reset: microseconds or bytes. */
  of(figure: SlotFigure, slot: number): number {
    return this.#figures[figure][slot] ?? 0;
  }

  /** Forgets all figures (CONFIG RESETSTAT), or those of a slot that has a new owner. */
  reset(slot?: number): void {
    for (const figures of Object.values(this.#figures)) {
      if (slot === undefined) figures.fill(0);
      else figures[slot] = 0;
    }
  }

  #add(figure: SlotFigure, slot: number | undefined, amount: number): void {
    if (slot !== undefined) this.#figures[figure][slot]! += amount;
  }

  /** Called when a client's request starts. */
  begin(client: Client, argv: readonly Bytes[]): void {
    const { decoder, output } = client;
    let size = sizeOf(argv);
    if (decoder.isInline) size = argv.reduce((sum, word) => sum + word.length, argv.length + 1);
    const request: Charged = { size, outputBefore: output.written, slot: undefined, ran: false, micros: 0 };
    this.#pending.set(client, request);
    this.#current = request;
  }

  /** Called when the slot of a request's keys is known. */
  charge(client: Client, slot: number | undefined): void {
    const request = this.#pending.get(client);
    if (request !== undefined) request.slot = slot;
  }

  /**
   * Called before a script's command runs. As in Redis, the script itself is then no longer counted.
   * @param slot the slot of the command's keys
   */
  chargeInScript(caller: Client, slot: number | undefined): void {
    this.charge(caller, undefined);
    this.#called = slot;
  }

  /**
   * Called when a command has run: that of the request, or one that its transaction or script calls.
   * @param micros how long it took
   * @param nested true for a command of a transaction or script
   */
  called(client: Client, command: Command, outcome: Outcome, micros: number, nested: boolean): void {
    const replied = lengthOf(client, outcome);
    if (client.has(SCRIPT)) {
      this.#add('network-bytes-out', this.#called, replied);
      return;
    }
    const request = this.#pending.get(client);
    if (request === undefined) return;
    request.ran = true;
    if (client.blocked !== undefined) {
      request.micros = micros;
      return;
    }
    if (!nested || command.spec.flags.includes('blocking')) this.#add('cpu-usec', request.slot, micros);
    // As in Redis: what the transaction has been answered so far.
    if (nested) {
      const before = client.output.written - request.outputBefore;
      this.#add('network-bytes-out', request.slot, before + replied);
    } else if (command.name === 'exec') this.#add('network-bytes-in', request.slot, MULTI_SIZE);
  }

  /** Called when a request has been answered, refused or queued, or has blocked its client. */
  ended(client: Client): void {
    this.#current = undefined;
    const request = this.#pending.get(client);
    if (request === undefined || client.blocked !== undefined) return;
    this.#pending.delete(client);
    this.#answered(client, request);
  }

  #answered(client: Client, { slot, size, outputBefore, ran }: Charged): void {
    this.#add('network-bytes-in', slot, size);
    if (ran) this.#add('network-bytes-out', slot, client.output.written - outputBefore);
  }

  /**
   * Called when a blocked client has its reply.
   * @param served false if the wait was ended by its timeout or by CLIENT UNBLOCK: Redis then counts no bytes
   */
  unblocked(client: Client, served: boolean): void {
    const request = this.#pending.get(client);
    if (request === undefined) return;
    this.#pending.delete(client);
    this.#add('cpu-usec', request.slot, request.micros);
    if (served) this.#answered(client, request);
  }

  /** Called when effects of the running request are sent to replicas. */
  replicated(
    effects: readonly { readonly argv: readonly Bytes[] }[],
    atomic: boolean,
    replicas: number,
  ): void {
    const slot = this.#current?.slot;
    // What follows are effects of clients that the request wakes up. Redis does not count those.
    this.#current = undefined;
    if (slot === undefined || replicas === 0) return;
    let bytes = atomic ? encodeRequest(['MULTI']).length + encodeRequest(['EXEC']).length : 0;
    for (const { argv } of effects) bytes += sizeOf(argv);
    this.#add('network-bytes-out', slot, bytes * replicas);
  }

  /** Called when a message is delivered to the subscribers of a shard channel. */
  delivered(channel: Bytes, text: Bytes, subscribers: Iterable<Client> = []): void {
    const message = new PushReply(['smessage', channel, text]);
    for (const { protocol } of subscribers) {
      this.#add('network-bytes-out', slotOf(channel), encodeReply(message, protocol).length);
    }
  }
}

/** The bytes of a reply to a client; 0 if there is none yet, or if the client gets no replies. */
export function lengthOf(client: Client, reply: Outcome): number {
  if (reply instanceof Unanswered || client.muted) return 0;
  return encodeReply(reply, client.protocol, client.server.dialect.printDouble).length;
}
