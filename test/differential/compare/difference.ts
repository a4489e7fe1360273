/** What a comparison of two servers finds. */

/** Where the two servers part. */
export interface Difference {
  /** The index of the step after which it showed; the number of steps when only the data differ. */
  readonly step: number;
  /** What differs: a connection's replies, the events, the replication stream, or the data. */
  readonly where: string;
  readonly mine: string;
  readonly theirs: string;
}
