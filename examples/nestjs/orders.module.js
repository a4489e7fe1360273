/** A service of NestJS that charges an order while nobody else does. The code under test: replace it by yours. */
require('reflect-metadata');
const { Mutex } = require('redis-semaphore');

/** Gets Redis and the payment provider from the container, so that a test can give it others. */
class Orders {
  constructor(redis, payments) {
    this.redis = redis;
    this.payments = payments;
  }

  async charge(order) {
    const mutex = new Mutex(this.redis, `order:${order}`, {
      lockTimeout: 1000,
      acquireTimeout: 60_000,
      retryInterval: 50,
    });
    await mutex.acquire();
    try {
      return await this.payments.charge(order);
    } finally {
      await mutex.release();
    }
  }
}

exports.REDIS = 'REDIS';
exports.PAYMENTS = 'PAYMENTS';
exports.Orders = Orders;
/** The provider of the module. With decorators: @Injectable(), @Inject('REDIS'), @Inject('PAYMENTS'). */
exports.ordersProvider = {
  provide: Orders,
  useFactory: (redis, payments) => new Orders(redis, payments),
  inject: ['REDIS', 'PAYMENTS'],
};
