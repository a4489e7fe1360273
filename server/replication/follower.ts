/** A replica, as its primary knows it. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import type { Client } from '../clients/client.ts';

/** A replica that follows us. */
export interface Follower {
  readonly client: Client;
  state: 'handshake' | 'online';
  /** Its own listening port and address, as it announced them. */
  port: number;
  address: Bytes;
  /** The highest offset it has applied. */
  acknowledged: number;
  /** The highest offset it has made durable. */
  synced: number;
  /** When it last acknowledged. */
  acknowledgedAt: Millis;
  readonly capabilities: Set<Bytes>;
  /** It came by SYNC, before there were acknowledgements: its silence means nothing. */
  silent: boolean;
}
