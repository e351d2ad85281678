/** Live tail over Kafka. */
import test from 'ava';
import { kafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import { startServices } from '../services/services.ts';
import { liveTailContract } from './live-tail.ts';

let brokers: string[] = [];

test.before(async () => {
  const services = await startServices(['kafka']);
  brokers = services.url('kafka').split(',');
});

liveTailContract({
  name: 'Kafka',
  quietMs: 1000,
  async make(t) {
    const bus = await kafkaBus({ brokers });
    t.teardown(() => bus.close());
    return { bus, reopen: () => Promise.reject(new Error('not needed')) };
  },
});
