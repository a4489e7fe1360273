/** The limits of a client's requests. */
import type { WordRules } from './inline.ts';

/** Limits of a stream. The decoder reads this object at each header, so the limits may change at any time. */
export interface DecodeLimits {
  /** The maximum length of an argument in bytes: proto-max-bulk-len. */
  maxBulk: number;
  /** False until the client has authenticated. Until then it may send 10 arguments of 16 KiB each. */
  authenticated: boolean;
  /** Whether CR must be followed by LF, behind each header and each argument. */
  checksLines?: boolean;
  /** How inline requests are split: as Redis does if it is left out. */
  words?: WordRules;
}
