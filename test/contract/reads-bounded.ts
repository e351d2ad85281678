/** Operations read no documents of other organizations: the other one has 20,000 users, and the store counts reads. */
import test from 'ava';
import { operations } from '../../api/groups/index.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import type { CollectionDefinition } from '../../schemas/ports/documents.ts';
import { sessions, sessionsTenant } from '../../schemas/resources/session.ts';
import { memberships, users, usersTenant } from '../../schemas/resources/user.ts';
import { runSeed, selectPart } from '../parts.ts';
import type { OperationRequest, World } from './example.ts';
import { unshown } from './examples.ts';
import { schemaOf } from './schema-values.ts';
import { startWorlds } from './world.ts';

const foreignUsers = 20_000;
/** Many more documents than the tested organization has. */
const maxDocuments = 2_000;

/** Creation time of all documents. */
export const at = '2030-01-01T00:00:00.000Z';

interface Foreign {
  readonly definition: CollectionDefinition<object>;
  readonly tenantId: string;
  readonly documents: readonly { readonly id: string; readonly fields: Readonly<Record<string, unknown>> }[];
}

/** Contents of the other organization: users, memberships and sessions. */
export const foreignDocuments = (): readonly Foreign[] => {
  const ids = Array.from({ length: foreignUsers }, (_, index) => `other-${index}`);
  const each = (fieldsOf: (id: string) => Record<string, unknown>) => ids.map((id) => ({ id, fields: fieldsOf(id) }));
  const session = { tenantId: 'other', signedInAt: at, expiresAt: at, refreshedAt: at, address: '', userAgent: '' };
  return [
    {
      definition: users,
      tenantId: usersTenant,
      documents: each((id) => ({
        email: `${id}@other.example`,
        name: 'Somebody',
        passwordHash: null,
        disabled: false,
      })),
    },
    { definition: memberships, tenantId: 'other', documents: each(() => ({ role: 'viewer' })) },
    {
      definition: sessions,
      tenantId: sessionsTenant,
      documents: each((id) => ({ ...session, userId: id, refreshHash: id, previousRefreshHash: null })),
    },
  ];
};

/** Stores that count the documents they read. */
export interface CountedStore {
  readonly options: Parameters<typeof startWorlds>[0];
  /** Called once the API runs; then the store holds `foreignDocuments`. */
  filled(world: World): Promise<void>;
  /** Documents read since the last call. */
  read(): Promise<number>;
}

const maxRetries = 10;

const built = operations.filter(({ built, operationId }) => built && !(operationId in unshown));

/** The example, and searches for a text that many foreign users contain, one at a time, and for an unknown text. */
const requestsOf = async (a: World, operation: Operation): Promise<readonly OperationRequest[]> => {
  const example = await a.example(operation);
  const { properties = {} } = operation.query === undefined ? {} : schemaOf(operation.query);
  if (!('search' in properties && 'limit' in properties)) return [example];
  const searches = [{ search: 'e', limit: '1' }, { search: 'zzzz' }];
  return [example, ...searches.map((query) => ({ ...example, query: { ...example.query, ...query } }))];
};

/** The suite for stores that `open` opens, with one operation in `parts`, which a run selects. */
export const readsAreBounded = (store: string, open: () => Promise<CountedStore>, parts = 1): void => {
  test(`${store}: every built operation reads only its own organization’s documents, next to ${foreignUsers} users of another`, async (t) => {
    const chosen = selectPart(built, parts);
    t.log(`${chosen.length} of ${built.length} operations are selected (TEST_SEED=${runSeed})`);
    const { options, filled, read } = await open();
    const { a, close } = await startWorlds(options);
    try {
      await filled(a);
      const failures: string[] = [];
      const failureOnce = async (operation: Operation, request: OperationRequest): Promise<string | undefined> => {
        await read();
        const { status } = await a.call(operation, request);
        const count = await read();
        if (status === 200 && count <= maxDocuments) return undefined;
        return `${operation.operationId} ${JSON.stringify(request.query ?? {})} ${status}: ${count} read`;
      };
      const failureOf = async (
        operation: Operation,
        request: OperationRequest,
        index: number,
      ): Promise<string | undefined> => {
        let failure = await failureOnce(operation, request);
        // Jobs of the API read as well, but only the operation itself reads each time.
        for (let again = 0; failure !== undefined && again < maxRetries; again++)
          failure = await failureOnce(operation, (await requestsOf(a, operation))[index] ?? request);
        return failure;
      };
      for (const operation of chosen)
        for (const [index, request] of (await requestsOf(a, operation)).entries()) {
          const failure = await failureOf(operation, request, index);
          if (failure !== undefined) failures.push(failure);
        }
      t.deepEqual(failures, []);
    } finally {
      await close();
    }
  });
};
