/** Live tail over Kafka. */
import test from 'ava';
import { openKafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import { startServices } from '../services/services.ts';
import type { BusContract } from './bus-harness.ts';
import { lastRecordsContract } from './last-records.ts';
import { liveTailContract } from './live-tail.ts';

let brokers: string[] = [];

test.before(async () => {
  const services = await startServices(['kafka']);
  brokers = services.url('kafka').split(',');
});

const contract: BusContract = {
  name: 'Kafka',
  quietMs: 1000,
  async make(t) {
    const bus = await openKafkaBus({ brokers });
    t.teardown(() => bus.close());
    return { bus, reopen: () => Promise.reject(new Error('not needed')) };
  },
};

liveTailContract(contract);
lastRecordsContract(contract);
