/** The read lock: each hold has a number, a key and a lease of its own, even if one owner has several. */

import type { AcquireParams } from '../asking/lock.ts';
import type { Acquisition, Attempt } from '../asking/waiting.ts';
import type { CountedHolds } from '../holding/context.ts';
import type { Hold, Renewal } from '../holding/hold.ts';
import { HoldHandle, type ReleaseAgain } from '../holding/hold-handle.ts';
import { elapsed } from '../timing/clock.ts';
import { CountedAcquisition, CountedLock, UNKNOWN_TO_SERVER } from './counted.ts';

/** The shared lock of a read-write lock. */
export class ReadLock extends CountedLock {
  protected override prepare(params: AcquireParams): Acquisition<HoldHandle> {
    return new ReadAcquisition(this.context, this.kind, params);
  }
}

/**
 * The count on the server is the greatest number in use. Redisson's release looks for a key under each number up to it
 * and skips missing ones, so a hold can keep its number when others end first.
 */
class ReadAcquisition extends CountedAcquisition {
  #number = 0;
  #kept: CountedHolds | undefined;

  protected override async look(counted: CountedHolds): Promise<Attempt<HoldHandle>> {
    counted.holds ??= [];
    const sentAt = elapsed();
    this.#number = counted.count + 1;
    let taken = this.kind.readAcquireReply(await this.takeTo(this.#number));
    if ('gone' in taken) {
      loseAll(counted);
      this.#number = 1;
      taken = this.kind.readAcquireReply(await this.takeTo(1));
    }
    if (!taken.granted) return { retryInMs: 'retryInMs' in taken ? taken.retryInMs : 0 };
    this.#kept = counted;
    const hold = this.hold(sentAt, { token: this.token, callbacks: this });
    counted.holds[this.#number - 1] = hold;
    counted.count = counted.holds.length;
    return { held: new HoldHandle(hold, this) };
  }

  override renewal(): Renewal {
    return this.kind.renewal(this.owner, this.#number);
  }

  override lost(hold: Hold): void {
    if (this.#kept) this.#drop(this.#kept, hold);
    this.forgetHolds();
  }

  protected override async releaseOne(counted: CountedHolds, hold: Hold): Promise<boolean> {
    const known = counted.holds?.[this.#number - 1];
    if (known !== undefined && known !== hold) return false; // It was lost, and a later hold has its number.
    hold.end();
    this.#drop(counted, hold);
    const left = await this.giveBack(counted.count, hold.endsAt, this.#number);
    if (left < 0) loseAll(counted);
    return left >= 0;
  }

  protected override async releaseAgain(
    counted: CountedHolds,
    hold: Hold,
    again: ReleaseAgain,
  ): Promise<boolean> {
    if (counted.holds?.[this.#number - 1] !== undefined) return true; // A later hold has its number.
    return (await this.giveBack(counted.count, hold.endsAt, this.#number, again)) >= 0;
  }

  #drop(counted: CountedHolds, hold: Hold): void {
    const { holds = [] } = counted;
    if (holds[this.#number - 1] === hold) holds[this.#number - 1] = undefined;
    while (holds.length > 0 && holds.at(-1) === undefined) holds.pop();
    counted.count = holds.length;
  }
}

/** The server has no hold of this owner: all of them are lost. */
function loseAll(counted: CountedHolds): void {
  for (const hold of counted.holds?.slice() ?? []) hold?.lose(UNKNOWN_TO_SERVER);
}
