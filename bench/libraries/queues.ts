/** The job queues of npm as code to explore: workers that each take jobs, as their documentation shows. Each job must be done once. */
import type { ClientSession } from '../../explore/index.ts';
import type { Load, Specimen, Untyped } from './specimen.ts';

/** How long a worker's lock on its job lasts, how often stalled jobs are looked for, and how long a job takes, in milliseconds. */
const [LOCK, LOOKS, WORK] = [1000, 500, 250];
/** The jobs that client A adds. */
const JOBS: readonly string[] = ['one', 'two', 'three'];
const QUEUE = 'mails';

/** Does a job: it says so when it is done. */
async function does({ resource, sleep }: ClientSession, id: unknown): Promise<void> {
  const inside = resource(`job ${id}`, { once: true }).enter();
  await sleep(WORK);
  inside.write();
  inside.leave();
}

/** Settles when the world is about to end: a worker does not end by itself. */
function over({ signal }: ClientSession): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done());
  });
}

/** A worker that loses its connection goes on when it has another one. */
function quiet(emitter: Untyped): void {
  emitter.on('error', () => {});
}

function bullmq(load: Load) {
  return async (session: ClientSession): Promise<void> => {
    const { Queue, Worker } = load('bullmq');
    const connection = (): Untyped => {
      const client = new (load('ioredis').Redis)(session.urls[0], { maxRetriesPerRequest: null });
      quiet(client);
      return client;
    };
    const worker = new Worker(QUEUE, (job: Untyped) => does(session, job.id), {
      ...{ connection: connection(), lockDuration: LOCK, stalledInterval: LOOKS },
    });
    quiet(worker);
    if (session.name === 'A') {
      const queue = new Queue(QUEUE, { connection: connection() });
      quiet(queue);
      for (const jobId of JOBS) await queue.add('mail', {}, { jobId });
    }
    await over(session);
  };
}

function bull(load: Load) {
  return async (session: ClientSession): Promise<void> => {
    const Queue = load('bull');
    const settings = { lockDuration: LOCK, lockRenewTime: LOCK / 2, stalledInterval: LOOKS };
    const queue = new Queue(QUEUE, session.urls[0], { settings });
    quiet(queue);
    void queue.process((job: Untyped) => does(session, job.id)).catch(() => {});
    if (session.name === 'A') for (const jobId of JOBS) await queue.add({}, { jobId });
    await over(session);
  };
}

/**
 * Bee-Queue reads its scripts when it first connects, and a world has no disk: it reads them before. It loads them into Redis in the order
 * in which their files were read, which the disk decides: here they are in the order of their names, so that a world repeats.
 */
export async function readScripts(load: Load): Promise<void> {
  const script = (_: string, __: string, done: (error: null, reply: number[]) => void): void =>
    done(null, [1]);
  const { buildCache, shas } = load('bee-queue/lib/lua/index.js');
  await buildCache({ script });
  const sorted = Object.entries(shas).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name] of sorted) delete shas[name];
  Object.assign(shas, Object.fromEntries(sorted));
}

function bee(load: Load) {
  return async (session: ClientSession): Promise<void> => {
    const Queue = load('bee-queue');
    const queue = new Queue(QUEUE, {
      redis: { url: session.urls[0], retry_strategy: () => 50 },
      stallInterval: LOCK,
    });
    quiet(queue);
    queue.process((job: Untyped) => does(session, job.id));
    queue.checkStalledJobs(LOOKS, () => {});
    if (session.name === 'A') for (const id of JOBS) await queue.createJob({}).setId(id).save();
    await over(session);
  };
}

/** The queues. */
export function queues(load: Load): Specimen[] {
  const isQueue = true;
  return [
    { name: 'BullMQ', module: 'bullmq', isQueue, client: bullmq(load) },
    { name: 'Bull', module: 'bull', isQueue, client: bull(load) },
    { name: 'Bee-Queue', module: 'bee-queue', isQueue, client: bee(load) },
  ];
}
