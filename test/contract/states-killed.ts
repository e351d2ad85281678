/** A process that is killed while it saves: `node states-killed.ts STORE PATH-OR-URL KEY NUMBER MOMENT`. */
import { randomBytes } from 'node:crypto';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { openStates } from '../../runtime/states.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Collection, Documents } from '../../schemas/ports/documents.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { openPatientDocuments } from '../services/open-patient-documents.ts';

const [store, place = '', key = '', number, moment] = process.argv.slice(2);
const documents = await (store === 'mongodb' ? openPatientDocuments(place) : openSqliteDocuments({ path: place }));

const waitToBeKilled = async (): Promise<never> => {
  process.stdout.write('now\n');
  await new Promise((resolve) => setTimeout(resolve, 600_000));
  throw new Error('nobody killed this process');
};

let chunks = 0;
const before: Readonly<Record<string, (collection: string, operation: string) => boolean>> = {
  'between two chunks': (collection, operation) =>
    collection === processorStateChunks.name && operation === 'insert' && ++chunks === 3,
  'before it is current': (collection, operation) => collection === processorStates.name && operation === 'replace',
  'once it is current': (collection, operation) => collection === processorStateChunks.name && operation === 'delete',
};

/** Waits at the selected moment, before the operation. */
const watched = <Fields extends object>(collection: Collection<Fields>, name: string): Collection<Fields> =>
  new Proxy(collection, {
    get:
      (target, operation) =>
      async (...args: readonly unknown[]) => {
        if (before[moment ?? '']?.(name, String(operation))) await waitToBeKilled();
        return Reflect.apply(Reflect.get(target, operation), target, args);
      },
  });

const watching: Pick<Documents, 'forTenant'> = {
  forTenant: (tenantId) => {
    const tenant = documents.forTenant(tenantId);
    return { tenantId, collection: (definition) => watched(tenant.collection(definition), definition.name) };
  },
};

await openStates({ documents: watching, clock: systemClock }).save(key, randomBytes(2_500_000), Number(number));
throw new Error(`the save did not come by the moment ${moment}`);
