/** The heap of the process that the nodes run in. */
import v8 from 'node:v8';
import vm from 'node:vm';
import { type HeapMeter, OUTSIDE } from '../../protocol/allowance.ts';

/** In bytes. Less memory than this outside of the heap does not matter. */
const MUCH = 16 * 1024 ** 2;

let collector: (() => void) | undefined;

/** V8's collector, which scripts see only with a flag. It can be set while the process runs. */
function collectorOf(): () => void {
  if (globalThis.gc !== undefined) return globalThis.gc;
  try {
    v8.setFlagsFromString('--expose-gc');
    const gc = vm.runInNewContext('gc') as () => void;
    // V8 rejects code that was compiled with other flags, such as the files of clients in an exploration.
    v8.setFlagsFromString('--no-expose-gc');
    return gc;
  } catch {
    return () => {};
  }
}

/** Returns a meter of the heap; undefined where nothing measures it, as in a browser. */
function meterOf(): HeapMeter | undefined {
  try {
    const { heap_size_limit: limit, used_heap_size: used } = v8.getHeapStatistics();
    if (!(used > 0 && limit > used)) return undefined;
    return {
      limit,
      used() {
        const { used_heap_size: heap, external_memory: outside } = v8.getHeapStatistics();
        return { heap, all: heap + outside * OUTSIDE };
      },
      collect() {
        collector ??= collectorOf();
        collector();
        // Buffers are freed in the background. The next collection waits for that.
        if (v8.getHeapStatistics().external_memory > MUCH) collector();
      },
    };
  } catch {
    return undefined;
  }
}

/** The meter of this process's heap; undefined where there is none. */
export const processHeap = meterOf();
