/** A group member in a separate process, to be killed or paused. Prints its notifications, and holds each range. */
import { openKafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';

const [brokers = '', group = '', topic = ''] = process.argv.slice(2);
const bus = await openKafkaBus({ brokers: brokers.split(','), sessionTimeoutMs: 6000 });
await bus.createConsumer({ group, maxWaitMs: 50 }).run(
  [topic],
  ({ first, last }) => {
    console.log(`range ${first}-${last}`);
    return new Promise(() => undefined);
  },
  { onAssigned: () => console.log('assigned'), onRevoked: () => console.log('revoked') },
);
