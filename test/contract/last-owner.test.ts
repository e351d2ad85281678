/** An organization keeps at least one Owner despite concurrent changes, in both stores. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { MongoClient } from 'mongodb';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import type { Caller } from '../../api/callers/caller.ts';
import { createTransact } from '../../api/changes.ts';
import { ApiError } from '../../api/errors.ts';
import { patchUser, removeUser } from '../../api/groups/users/members.ts';
import type { DeclaredOperation } from '../../api/kernel/operation.ts';
import type { Ports } from '../../api/kernel/ports.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { memberships, users, usersTenant } from '../../schemas/resources/user.ts';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { startServices, unavailable } from '../services/services.ts';

const clock = { now: () => Date.now() };

/** Calls the operation on a user as an Owner, with real documents; returns the status. */
const run = async (documents: Documents, operation: DeclaredOperation, tenantId: string, id: string, body?: object) => {
  const caller = {
    kind: 'person',
    tenantId,
    role: 'owner',
    actor: { type: 'user', id, name: '' },
  } as unknown as Caller;
  const request = {
    requestId: randomUUID(),
    address: '',
    userAgent: '',
    host: '',
    secure: true,
    header: () => '',
    reply: () => {},
    redirect: () => {},
  };
  const change = createTransact({ documents, clock }, { caller, actions: operation.audit, request });
  try {
    await operation.run(
      { caller, params: { id }, query: {}, body, request, change, signal: new AbortController().signal },
      {
        documents,
        clock,
        scopes: [],
      } as unknown as Ports,
    );
    return 200;
  } catch (error) {
    if (error instanceof ApiError) return error.status;
    throw error;
  }
};

const ways: readonly (readonly [what: string, DeclaredOperation, body?: object])[] = [
  ['demoted', patchUser, { role: 'viewer' }],
  ['disabled', patchUser, { disabled: true }],
  ['removed', removeUser],
];

const suite = (
  store: string,
  open: () => Promise<Documents>,
  close = (documents: Documents): Promise<void> => documents.close(),
): void => {
  const withOwners = async (documents: Documents, count: number): Promise<{ tenantId: string; ids: string[] }> => {
    const tenantId = randomUUID();
    const ids: string[] = [];
    for (let owner = 0; owner < count; owner++) {
      const id = randomUUID();
      const fields = { id, email: `${id}@a.example`, name: '', passwordHash: null, disabled: false };
      await documents.forTenant(usersTenant).collection(users).insert(fields);
      await documents.forTenant(tenantId).collection(memberships).insert({ id, role: 'owner' });
      ids.push(id);
    }
    return { tenantId, ids };
  };
  const left = async (documents: Documents, tenantId: string): Promise<number> => {
    const { items } = await documents
      .forTenant(tenantId)
      .collection(memberships)
      .list({ filter: { role: 'owner' } });
    return items.filter(({ disabled }) => !disabled).length;
  };

  test(`${store}: the last Owner can’t be demoted, disabled or removed`, async (t) => {
    const documents = await open();
    for (const [what, operation, body] of ways) {
      const { tenantId, ids } = await withOwners(documents, 1);
      t.is(await run(documents, operation, tenantId, ids[0] ?? '', body), 409, what);
      t.is(await left(documents, tenantId), 1, what);
    }
    await close(documents);
  });

  test(`${store}: an Owner whose account is disabled does not count as an Owner`, async (t) => {
    const documents = await open();
    const { tenantId, ids } = await withOwners(documents, 2);
    const [disabledId = '', last = ''] = ids;
    await documents.forTenant(usersTenant).collection(users).update(disabledId, { disabled: true });
    t.is(await run(documents, removeUser, tenantId, last), 409);
    t.is(await run(documents, removeUser, tenantId, disabledId), 200);
    await close(documents);
  });

  test(`${store}: when all Owners are removed concurrently, one stays`, async (t) => {
    const [one, other] = [await open(), await open()];
    for (let round = 0; round < 5; round++) {
      const { tenantId, ids } = await withOwners(one, 3);
      const statuses = await Promise.all(
        ids.map((id, index) => {
          const [, operation = removeUser, body] = ways[(index + round) % ways.length] ?? [];
          return run(index % 2 === 0 ? one : other, operation, tenantId, id, body);
        }),
      );
      t.deepEqual(statuses.sort(), [200, 200, 409]);
      t.is(await left(one, tenantId), 1);
    }
    await close(one);
    await close(other);
  });
};

const directory = mkdtempSync(join(tmpdir(), 'oiq-owners-'));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));
// Only one process can open a file, so both callers share a store: its transactions are concurrent.
const shared = openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
test.after.always(async () => (await shared).close());
suite(
  'sqlite',
  () => shared,
  async () => undefined,
);

const reason = unavailable('mongodb');
if (reason !== undefined) test.skip(`mongodb: ${reason}`, () => undefined);
else {
  const name = `oiq-owners-${process.pid}-${Date.now()}`;
  const urls = startServices(['mongodb']).then((services) => services.url('mongodb'));
  const within = (url: string): string => url.replace('/?', `/${name}?`);
  test.after.always(async () => {
    const client = await new MongoClient(await urls).connect();
    await client.db(name).dropDatabase();
    await client.close();
  });
  suite('mongodb', async () => {
    const documents = await openPatientDocuments(within(await urls));
    await documents.ensureCollections([users, memberships]);
    return documents;
  });
}
