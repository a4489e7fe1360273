/** A queue of orders to charge, over BullMQ. The code under test: replace it by yours. */
const { Queue, Worker } = require('bullmq');

/** @param connection BullMQ's options of a connection */
exports.addCharge = async (connection, order) => {
  const queue = new Queue('charges', { connection });
  queue.on('error', () => {});
  await queue.add('charge', { order }, { jobId: order });
};

/**
 * Starts a worker. BullMQ gives a job to another worker when its own has not renewed its lock in time, so a job may run twice. The
 * payment provider charges once for each key, so the customer pays once.
 * @param payments has charge(order, key)
 */
exports.startWorker = (connection, payments) => {
  const charge = (job) => payments.charge(job.data.order, job.id);
  const worker = new Worker('charges', charge, {
    connection,
    lockDuration: 1000,
    stalledInterval: 1000,
    drainDelay: 1,
  });
  worker.on('error', () => {}); // It connects again by itself.
  return worker;
};
