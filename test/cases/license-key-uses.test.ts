/** How receivers record the use of license keys, and how rarely they write it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { KeyUses } from '../../receivers/engine/key-uses.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { buildUseId, licenseKeyUses, mergeUses } from '../../schemas/resources/license-key-use.ts';

const start = Date.parse('2025-06-01T12:00:00.000Z');
const hash = 'ab'.repeat(32);
const secret = { tenantId: 'acme', keyId: 'k1', hash };
const at = (seconds: number): string => new Date(start + seconds * 1000).toISOString();

const setUp = async (t: ExecutionContext) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-uses-'));
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  const clock = { at: start, now: () => clock.at };
  const opened: KeyUses[] = [];
  const open = (): KeyUses => {
    const uses = new KeyUses(documents, clock, silentLog);
    opened.push(uses);
    return uses;
  };
  t.teardown(async () => {
    await Promise.all(opened.map((uses) => uses.close()));
    await documents.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const stored = documents.forTenant('acme').collection(licenseKeyUses);
  return { clock, documents, open, find: () => stored.find(buildUseId('k1', hash)) };
};

test('the use of an unused key is never written', async (t) => {
  const { open, find } = await setUp(t);
  const uses = open();
  uses.findOrCreate(secret);
  await uses.writeDue();
  t.is(await find(), undefined);
});

test('the first use is written at once, and a thousand more within a minute are one write', async (t) => {
  const { clock, open, find } = await setUp(t);
  const uses = open();
  const use = uses.findOrCreate(secret);
  use.recordUse('192.0.2.1');
  use.recordAccepted('logs');
  await uses.writeDue();
  t.like(await find(), { version: 1, lastUsedAt: at(0), firstSeen: { logs: at(0) } });
  for (let second = 1; second < 60; second += 1) {
    clock.at = start + second * 1000;
    for (let request = 0; request < 20; request += 1) {
      use.recordUse('192.0.2.1');
      use.recordAccepted('logs');
    }
    await uses.writeDue();
  }
  t.is((await find())?.version, 1);
  clock.at = start + 60_000;
  await uses.writeDue();
  t.like(await find(), { version: 2, lastUsedAt: at(59), firstSeen: { logs: at(0) }, lastSeen: { logs: at(59) } });
  await uses.writeDue();
  t.is((await find())?.version, 2);
});

test('a signal type that is received for the first time is written without waiting for the minute', async (t) => {
  const { clock, open, find } = await setUp(t);
  const uses = open();
  const use = uses.findOrCreate(secret);
  use.recordUse('192.0.2.1');
  use.recordAccepted('logs');
  await uses.writeDue();
  clock.at += 2_000;
  use.recordUse('192.0.2.1');
  use.recordAccepted('traces');
  await uses.writeDue();
  t.deepEqual((await find())?.firstSeen, { logs: at(0), traces: at(2) });
});

test('the uses seen by two instances are merged, whichever writes last', async (t) => {
  const { clock, open, find } = await setUp(t);
  const [one, other] = [open(), open()];
  one.findOrCreate(secret).recordUse('192.0.2.1');
  one.findOrCreate(secret).recordAccepted('logs');
  clock.at += 5_000;
  other.findOrCreate(secret).recordUse('192.0.2.2');
  other.findOrCreate(secret).recordAccepted('logs');
  other.findOrCreate(secret).recordRejected('192.0.2.3', 'signal');
  await Promise.all([other.writeDue(), one.writeDue()]);
  t.like(await find(), {
    lastUsedAt: at(5),
    firstSeen: { logs: at(0) },
    lastSeen: { logs: at(5) },
    lastRefusal: { at: at(5), address: '192.0.2.3', reason: 'signal' },
  });
  t.deepEqual((await find())?.addresses, [
    { address: '192.0.2.2', at: at(5) },
    { address: '192.0.2.1', at: at(0) },
  ]);
});

test('only the last ten addresses are stored', async (t) => {
  const { clock, open, find } = await setUp(t);
  const uses = open();
  for (let host = 0; host < 200; host += 1) {
    clock.at = start + host * 1000;
    uses.findOrCreate(secret).recordUse(`192.0.2.${host}`);
  }
  await uses.close();
  t.deepEqual(
    (await find())?.addresses.map(({ address }) => address),
    Array.from({ length: 10 }, (_, index) => `192.0.2.${199 - index}`),
  );
});

test('pending uses are written at shutdown, and after an outage', async (t) => {
  const { clock, documents, open, find } = await setUp(t);
  let broken = true;
  const failing = new KeyUses(
    {
      ...documents,
      forTenant: documents.forTenant.bind(documents),
      transaction: (work) => (broken ? Promise.reject(new Error('gone')) : documents.transaction(work)),
    } as typeof documents,
    clock,
    silentLog,
  );
  failing.findOrCreate(secret).recordUse('192.0.2.1');
  await failing.writeDue();
  t.is(await find(), undefined);
  broken = false;
  clock.at += 60_000;
  await failing.writeDue();
  t.is((await find())?.lastUsedAt, at(0));
  failing.findOrCreate(secret).recordUse('192.0.2.1');
  await failing.close();
  t.is((await find())?.lastUsedAt, at(60));
  const uses = open();
  uses.findOrCreate(secret).recordUse('192.0.2.9');
  await uses.close();
  t.is((await find())?.addresses.length, 2);
});

test('merging uses the earliest first use and the latest last use, and is commutative', (t) => {
  const left = {
    keyId: 'k1',
    lastUsedAt: at(3),
    addresses: [{ address: 'x', at: at(3) }],
    firstSeen: { logs: at(1), metrics: at(2) },
    lastSeen: { logs: at(3) },
    lastRefusal: null,
  };
  const right = {
    keyId: 'k1',
    lastUsedAt: null,
    addresses: [{ address: 'x', at: at(1) }],
    firstSeen: { logs: at(2), traces: at(5) },
    lastSeen: { logs: at(4) },
    lastRefusal: { at: at(6), address: 'y', reason: 'revoked' as const },
  };
  const expected = {
    keyId: 'k1',
    lastUsedAt: at(3),
    addresses: [{ address: 'x', at: at(3) }],
    firstSeen: { logs: at(1), metrics: at(2), traces: at(5) },
    lastSeen: { logs: at(4) },
    lastRefusal: { at: at(6), address: 'y', reason: 'revoked' as const },
  };
  t.deepEqual(mergeUses(left, right), expected);
  t.deepEqual(mergeUses(right, left), expected);
});
