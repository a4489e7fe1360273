/** What a program about replication is played on: one node, ours or a real server, and the tester's ends of its links. */
import type { Bytes } from '../../../protocol/bytes.ts';
import type { RawReply } from '../../support/reply-text.ts';
import type { PeerName } from './program.ts';

/** The tester's end of a connection. */
export interface TesterEnd {
  send(bytes: Bytes): void;
  /** Ends the connection. */
  close(): void;
}

/** Takes what comes over a connection. */
export interface Ear {
  hear(bytes: Bytes): void;
  /** The node has closed the connection. */
  closed(): void;
}

/** One node, started for one program. */
export interface Stage {
  /** The port of the node itself, and those at which it reaches its peers. */
  readonly port: number;
  readonly peerPorts: ReadonlyMap<PeerName, number>;
  /** Called when the node connects to a peer. Returns what hears the connection. */
  onDial: (peer: PeerName, end: TesterEnd) => Ear;
  /** Connects to the node. */
  join(ear: Ear): Promise<TesterEnd>;
  /** Asks beside the program. */
  ask(...words: readonly Bytes[]): Promise<RawReply>;
  /** Resolves when the node has handled and answered all that it was sent. */
  settle(): Promise<void>;
  /** Waits for something that happens by itself. Returns false when it does not. */
  until(condition: () => boolean | Promise<boolean>): Promise<boolean>;
  /** Lets a few milliseconds pass. */
  pass(): Promise<void>;
  stop(): Promise<void>;
}
