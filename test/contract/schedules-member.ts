/** A process of a schedule on Kafka and MongoDB, to be killed or paused. Prints a line per save; input stops it. */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openKafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import { runSchedule } from '../../processors/engine/schedule-run.ts';
import { openStates } from '../../runtime/states.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { madeUpChecks } from './made-up-checks.ts';

const [brokers = '', url = '', id = ''] = process.argv.slice(2);
const bus = await openKafkaBus({ brokers: brokers.split(','), sessionTimeoutMs: 6000 });
const documents = await openPatientDocuments(url);
const producer = await bus.producer();
const states = openStates({ documents, clock: systemClock });
const running = runSchedule(madeUpChecks(id).schedule, {
  bus,
  producer: {
    async publish(messages) {
      // So that a killed process has saved runs that it has not published.
      await sleep(100);
      return producer.publish(messages);
    },
  },
  states: {
    load: (key) => states.load(key),
    async save(key, bytes, expected) {
      try {
        const number = await states.save(key, bytes, expected);
        console.log('saved');
        return number;
      } catch (error) {
        console.log('refused');
        throw error;
      }
    },
  },
  ports: { documents, columns: {} as Columns },
  clock: systemClock,
  log: silentLog,
  metrics: silentMetrics,
  pollMs: 20,
});
createInterface(process.stdin).once('line', async () => {
  await running.stop();
  process.exit();
});
await running.done;
