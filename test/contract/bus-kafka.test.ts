/** The bus contract over Kafka. */
import test from 'ava';
import { openKafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import { startServices } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { busContract } from './bus.ts';

let brokers: string[] = [];

test.before(async () => {
  const services = await startServices(['kafka']);
  brokers = services.url('kafka').split(',');
  // A new broker creates the transaction topic at the first transaction; until then it has no transaction coordinator.
  const bus = await openKafkaBus({ brokers });
  const producer = await bus.producer();
  const works = (): Promise<boolean> => producer.transaction('bus-kafka', async () => true).catch(() => false);
  await eventually('a transaction', works);
  await bus.close();
});

busContract({
  name: 'Kafka',
  quietMs: 1000,
  async make(t) {
    const open: Bus[] = [];
    const make = async () => {
      const bus = await openKafkaBus({ brokers, sessionTimeoutMs: 6000 });
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
