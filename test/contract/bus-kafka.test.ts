/** The bus contract over Kafka. */
import test from 'ava';
import { kafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import { startServices } from '../services/services.ts';
import { busContract } from './bus.ts';

let brokers: string[] = [];

test.before(async () => {
  const services = await startServices(['kafka']);
  brokers = services.url('kafka').split(',');
});

busContract({
  name: 'Kafka',
  quietMs: 1000,
  async make(t) {
    const open: Bus[] = [];
    const make = async () => {
      const bus = await kafkaBus({ brokers, sessionTimeoutMs: 6000 });
      open.push(bus);
      return bus;
    };
    t.teardown(async () => {
      for (const bus of open) await bus.close();
    });
    const bus = await make();
    return {
      bus,
      async reopen() {
        await bus.close();
        return make();
      },
    };
  },
});
