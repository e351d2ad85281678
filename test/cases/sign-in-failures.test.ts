/** A rejected sign-in costs the store the same for known and unknown users, and not before the response. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { createTransact } from '../../api/changes.ts';
import { createSignInFailures, type RejectedSignIn } from '../../api/identity/sign-in-failures.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import { oneTimeTokens, oneTimeTokensTenant } from '../../schemas/resources/one-time-token.ts';

const setUp = async (t: { teardown(work: () => unknown): void }) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-sign-in-failures-'));
  const stored = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  t.teardown(async () => {
    await stored.close();
    rmSync(directory, { recursive: true });
  });
  let commits = 0;
  const documents = {
    forTenant: (tenantId: string) => stored.forTenant(tenantId),
    transaction: async <Result>(work: Parameters<typeof stored.transaction<Result>>[0]) => {
      commits += 1;
      return stored.transaction(work);
    },
  } as typeof stored;
  const clock = { now: () => Date.UTC(2026, 2, 1, 10, 30) };
  const failures = createSignInFailures({
    documents,
    clock,
    log: silentLog,
    counters: createMemoryCounters({ clock }),
  });
  const request = { requestId: 'r', address: '192.0.2.1' };
  const change = createTransact({ documents, clock }, { caller: undefined, actions: ['session.refuse'], request });
  return { stored, failures, change, commits: () => commits };
};

const user = {
  id: 'u',
  email: 'ann@a.example',
  name: '',
  passwordHash: null,
  disabled: false,
} as RejectedSignIn['user'];
const cases: Readonly<Record<string, Omit<RejectedSignIn, 'change'>>> = {
  'a known user': { email: 'ann@a.example', user, tenantId: 'a' },
  'a user of no organization': { email: 'ann@a.example', user, tenantId: undefined },
  'an unknown address': { email: 'nobody@a.example', user: undefined, tenantId: undefined },
};

for (const [who, refused] of Object.entries(cases))
  test(`${who} costs no write before the response, one commit later, and at most twenty an hour`, async (t) => {
    const { failures, change, commits } = await setUp(t);
    failures.recordRejection({ ...refused, change });
    await new Promise(setImmediate);
    t.is(commits(), 0);
    await failures.close();
    t.is(commits(), 1);
    for (let again = 0; again < 30; again++) failures.recordRejection({ ...refused, change });
    await failures.close();
    t.is(commits(), 20);
  });

test('a failure without a user leaves no record, and does not accumulate', async (t) => {
  const { stored, failures, change } = await setUp(t);
  for (let each = 0; each < 5; each++)
    failures.recordRejection({ email: `nobody-${each}@a.example`, user: undefined, tenantId: undefined, change });
  failures.recordRejection({ email: 'ann@a.example', user, tenantId: 'a', change });
  await failures.close();
  t.is(await stored.forTenant(oneTimeTokensTenant).collection(oneTimeTokens).count(), 1);
  const { items } = await stored.forTenant('a').collection(auditRecords).list();
  t.deepEqual(
    items.map(({ action, details }) => [action, details?.address]),
    [['session.refuse', '192.0.2.1']],
  );
});
