/** Stands for ioredis in a lab whose clients are other processes. */
import { badOption } from '../../base/options.ts';

/** ioredis is for tests in this process. A lab that other processes control needs none. */
export class NoIoredis {
  constructor() {
    throw badOption('client', undefined, 'startPair: this lab is controlled by other processes');
  }
}
