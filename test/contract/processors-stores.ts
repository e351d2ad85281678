/** The stores of the suite that interrupts processors, as the test and its members open them. */
import { join } from 'node:path';
import { setFingerprintKey } from '../../runtime/fingerprint-key.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { staged } from './staged-bus.ts';

// The test and its members recognize the same secrets.
setFingerprintKey('0'.repeat(64));

export type StoresPlace = { readonly prefix: string } & (
  | { readonly kind: 'embedded'; readonly directory: string }
  | { readonly kind: 'cluster'; readonly brokers: string; readonly mongodb: string }
);

export const partitions = 2;

const embedded = async (directory: string) => {
  const { openSegmentsBus } = await import('../../adapters/bus-segments/bus-segments.ts');
  const { openSqliteDocuments } = await import('../../adapters/documents-sqlite/documents-sqlite.ts');
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  return { documents, bus: await openSegmentsBus({ directory: join(directory, 'bus') }) };
};

const cluster = async (brokers: string, mongodb: string) => {
  const { openKafkaBus } = await import('../../adapters/bus-kafka/bus-kafka.ts');
  const { openMongoDocuments } = await import('../../adapters/documents-mongodb/documents-mongodb.ts');
  const documents = await openMongoDocuments({ url: mongodb });
  return { documents, bus: await openKafkaBus({ brokers: brokers.split(','), sessionTimeoutMs: 6_000 }) };
};

/** Loads only the required drivers: a member lives for a second or two, and loading Kafka's takes a third of that. */
export const openStores = async (place: StoresPlace): Promise<{ readonly bus: Bus; readonly documents: Documents }> => {
  const { bus, documents } =
    place.kind === 'embedded' ? await embedded(place.directory) : await cluster(place.brokers, place.mongodb);
  return { bus: staged(bus, place.prefix, partitions), documents };
};
