/** A member of a group in a process of its own, to be killed: prints the first range that it is given and holds it. */
import { kafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';

const [brokers = '', group = '', topic = ''] = process.argv.slice(2);
const bus = await kafkaBus({ brokers: brokers.split(','), sessionTimeoutMs: 6000 });
await bus.consumer({ group, maxWaitMs: 50 }).run([topic], ({ first, last }) => {
  console.log(`${first}-${last}`);
  return new Promise(() => undefined);
});
