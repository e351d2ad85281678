/** The stores of the suite that disturbs processors, as the test and its members open them. */
import { join } from 'node:path';
import { kafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import { segmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { mongoDocuments } from '../../adapters/documents-mongodb/documents-mongodb.ts';
import { sqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { staged } from './staged-bus.ts';

export type StoresPlace = { readonly prefix: string } & (
  | { readonly kind: 'embedded'; readonly directory: string }
  | { readonly kind: 'cluster'; readonly brokers: string; readonly mongodb: string }
);

export const partitions = 2;

export const openStores = async (place: StoresPlace): Promise<{ readonly bus: Bus; readonly documents: Documents }> => {
  const documents =
    place.kind === 'embedded'
      ? await sqliteDocuments({ path: join(place.directory, 'documents.sqlite') })
      : await mongoDocuments({ url: place.mongodb });
  const bus =
    place.kind === 'embedded'
      ? await segmentsBus({ directory: join(place.directory, 'bus') })
      : await kafkaBus({ brokers: place.brokers.split(','), sessionTimeoutMs: 6_000 });
  return { bus: staged(bus, place.prefix, partitions), documents };
};
