/** Contract of the audit chain for every documents store. Each adapter's test file runs it with its own stores. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import type { Transact } from '../../api/changes.ts';
import type { ApiError } from '../../api/errors.ts';
import { hashDetails, hashRecord } from '../../api/groups/audit/chain/chain.ts';
import { createChainSigner } from '../../api/groups/audit/chain/chain-signing.ts';
import { eraseDetails } from '../../api/groups/audit/chain/erasure.ts';
import { deriveEvidenceKey } from '../../api/groups/audit/chain/evidence-key.ts';
import { readRecordsInOrder, type StoredRecord } from '../../api/groups/audit/chain/record-pages.ts';
import { findNewestRecords } from '../../api/groups/audit/chain/record-search.ts';
import { startHeadSigner } from '../../api/groups/audit/chain/tree-head-signer.ts';
import { createHeadStore } from '../../api/groups/audit/chain/tree-head-store.ts';
import { type EvidenceStores, verifyChain } from '../../api/groups/audit/chain/verify-chain.ts';
import { toLegacyCanonicalJson } from '../../runtime/canonical-json.ts';
import { openJobs } from '../../runtime/jobs.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import type { EvidenceKey, HeadSigner, HeadStore } from '../../schemas/ports/evidence.ts';
import { type Log, silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { auditHeads, auditRecords } from '../../schemas/resources/audit-record.ts';
import { allTopics } from '../../schemas/topics.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { copyColumns } from '../services/columns-template.ts';
import { eventually } from '../waiting.ts';
import { changesFor, patiently, testCollection } from './audit-changes.ts';
import { tamperings } from './audit-tampering.ts';

const ann = { type: 'user', id: 'ann', name: 'ann@a.example' } as const;

const make = (change: Transact, n: number): Promise<unknown> =>
  change(async ({ forTenant, record }) => {
    const created = await forTenant('t').collection(testCollection).insert({ n });
    record({ id: created.id, name: `thing ${n}`, after: { n } });
  });

const jobsOver = (documents: Documents) =>
  openJobs({ documents, clock: systemClock, log: silentLog, metrics: silentMetrics });

/** Tests run serially: forty concurrent tests on a busy machine make transactions exceed their time limit. */
export const auditContract = (name: string, open: () => Promise<Documents>): void => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-audit-'));
  let one: Documents;
  let other: Documents;
  let stores: EvidenceStores & { readonly key: EvidenceKey };
  let signer: HeadSigner;
  const closing: (() => Promise<void>)[] = [];

  test.before(async () => {
    one = await open();
    other = await open();
    await one.ensureCollections([auditRecords, auditHeads, testCollection]);
    copyColumns(join(directory, 'columns'));
    const columns = await openChdbColumns({ directory: join(directory, 'columns') });
    await migrate(columns, silentLog);
    const bus = await openSegmentsBus({ directory: join(directory, 'bus') });
    await bus.ensureTopics(allTopics);
    const heads = createHeadStore(bus, columns);
    const key = deriveEvidenceKey(createSecretBox('a secret key of the tests, long enough'));
    stores = { documents: one, heads, key, clock: systemClock };
    signer = await startHeadSigner({
      documents: one,
      heads,
      key,
      clock: systemClock,
      log: silentLog,
      jobs: jobsOver(one),
      intervalMs: 3_600_000,
    });
    closing.push(
      () => heads.close(),
      () => bus.close(),
      () => columns.close(),
    );
  });
  test.after.always(async () => {
    await signer?.close();
    for (const close of closing) await close();
    await one?.close();
    await other?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const recordsOf = async (tenantId: string): Promise<StoredRecord[]> => {
    const records: StoredRecord[] = [];
    for await (const record of readRecordsInOrder(one, tenantId)) records.push(record);
    return records;
  };
  /** Records in changes that are small enough for a busy machine. */
  const appendMany = async (tenantId: string, records: number): Promise<void> => {
    for (let created = 0; created < records; created += 100)
      await changesFor(
        one,
        tenantId,
      )(async ({ record }) => {
        for (let n = 0; n < 100; n++) record({ id: 'x' });
      });
  };
  const countOf = (tenantId: string): Promise<number> => one.forTenant(tenantId).collection(testCollection).count();
  const brokenBy = async (tenantId: string) => (await verifyChain(stores, tenantId)).firstBreak;

  test.serial(
    `${name}: fifty concurrent changes through two instances form one chain without gap or fork`,
    async (t) => {
      const changes = [changesFor(one, 'many'), changesFor(other, 'many')];
      const created = Array.from({ length: 50 }, (_, n) =>
        (changes[n % 2] as Transact)(async ({ forTenant, record }) => {
          const { id } = await forTenant('many').collection(testCollection).insert({ n });
          record({ id, after: { n } });
          if (n % 10 === 0) record({ id, action: 'thing.update' });
        }),
      );
      await Promise.all(created);
      const chain = await recordsOf('many');
      t.is(await countOf('many'), 50);
      t.deepEqual(
        chain.map(({ sequence }) => sequence),
        Array.from({ length: 55 }, (_, index) => index + 1),
      );
      t.is(new Set(chain.map(({ previousHash }) => previousHash)).size, 55);
      t.like(await verifyChain(stores, 'many'), { firstBreak: undefined, records: 55 });
    },
  );

  test.serial(`${name}: new records are signed automatically after a while`, async (t) => {
    await changesFor(one, 'waiting')(async ({ record }) => record({ id: 'x' }));
    const { documents, heads, key } = stores;
    const patient = await startHeadSigner({
      documents,
      heads,
      key,
      clock: systemClock,
      log: silentLog,
      jobs: jobsOver(documents),
      intervalMs: 120,
    });
    const covers = (size: number): Promise<void> =>
      eventually(`a head of ${size} records`, async () => ((await heads.listNewest('waiting'))[0]?.size ?? 0) >= size);
    await covers(1);
    await changesFor(one, 'waiting')(async ({ record }) => record({ id: 'x' }));
    await covers(2);
    await patient.close();
    t.is((await heads.listNewest('waiting')).length, 2);
  });

  test.serial(`${name}: a change that fails after recording leaves neither the change nor the record`, async (t) => {
    const change = changesFor(one, 't-fails');
    const failing = change(async ({ forTenant, record }) => {
      const { id } = await forTenant('t-fails').collection(testCollection).insert({ n: 1 });
      record({ id });
      throw new Error('thought better of it');
    });
    await t.throwsAsync(failing, { message: 'thought better of it' });
    t.is(await countOf('t-fails'), 0);
    t.deepEqual(await recordsOf('t-fails'), []);
  });

  test.serial(`${name}: a change that the store refuses leaves no record`, async (t) => {
    const change = changesFor(one, 't');
    await make(change, 1);
    const before = (await recordsOf('t')).length;
    await t.throwsAsync(make(change, 1), { message: /same n/ });
    t.is((await recordsOf('t')).length, before);
    t.is(await brokenBy('t'), undefined);
  });

  test.serial(
    `${name}: a change that records nothing, or an undeclared action, is refused and rolled back`,
    async (t) => {
      const change = changesFor(one, 't-silent');
      const write = (action?: string) =>
        change(async ({ forTenant, record }) => {
          const { id } = await forTenant('t-silent').collection(testCollection).insert({ n: 1 });
          if (action !== undefined) record({ id, action });
        });
      await t.throwsAsync(write(), { message: /must record/ });
      await t.throwsAsync(write('thing.destroy'), { message: /thing\.destroy/ });
      t.is(await countOf('t-silent'), 0);
      t.deepEqual(await recordsOf('t-silent'), []);
    },
  );

  test.serial(`${name}: a nested change is refused and does not deadlock`, async (t) => {
    const change = changesFor(one, 't-nested');
    const nested = change(async ({ record }) => {
      record({ id: 'outer' });
      await change(async (inner) => inner.record({ id: 'inner' }));
    });
    await t.throwsAsync(nested, { message: /transaction/ });
    t.deepEqual(await recordsOf('t-nested'), []);
    await change(async ({ record }) => record({ id: 'next' }));
    t.is((await recordsOf('t-nested')).length, 1);
  });

  test.serial(
    `${name}: one change may be recorded in the chains of several organizations, in all of them or in none`,
    async (t) => {
      const change = changesFor(one, 'several');
      await change(async ({ record }) => {
        record({ id: 'x' });
        record({ id: 'x', tenantId: 'several-too' });
      });
      t.is((await recordsOf('several')).length, 1);
      t.is((await recordsOf('several-too')).length, 1);
      t.is(await brokenBy('several-too'), undefined);
    },
  );

  test.serial(`${name}: a record verifies whatever values its difference contains`, async (t) => {
    const change = changesFor(one, 'values');
    const after = {
      when: new Date(0),
      missing: undefined,
      list: [undefined, 1, null],
      '__proto__.x': JSON.parse('{"__proto__":{"a":1},"$set":{"a.b":1}}'),
      text: 'é\u{1F600} "\\',
      numbers: [1e21, -0, 5e-324, 0.1],
    };
    await change(async ({ record }) =>
      record({ id: 'x', name: 'half \ud800', before: { text: '\u2028\ud800' }, after }),
    );
    t.is(await brokenBy('values'), undefined);
    const details = (await recordsOf('values'))[0]?.details;
    t.is(details?.changes.length, 5);
    t.is(details?.resourceName, 'half \ufffd');
    t.false(JSON.stringify(details).includes('ud800'));
  });

  test.serial(
    `${name}: a change that writes an unpaired surrogate is refused as invalid, in a value, a name or a list`,
    async (t) => {
      const change = changesFor(one, 'halves');
      for (const after of [{ text: '\ud800x' }, { list: ['a', { b: '\udc00' }] }, { labels: { 'a\ud800': 1 } }]) {
        const error = await t.throwsAsync<ApiError>(change(async ({ record }) => record({ id: 'x', after })));
        t.is(error?.code, 'VALIDATION_FAILED');
        t.regex(error?.message ?? '', /well-formed Unicode/);
      }
      t.deepEqual(await recordsOf('halves'), []);
    },
  );

  test.serial(
    `${name}: records with an unpaired surrogate, as written by earlier versions, verify and are signed`,
    async (t) => {
      await changesFor(one, 'half')(async ({ record }) => record({ id: 'x', name: 'x' }));
      const [record] = await recordsOf('half');
      if (record?.details == null) throw new Error('there is no record');
      const details = { ...record.details, resourceName: 'a\ud800' };
      const changedRecord = { ...record, actor: { type: 'user', id: 'b\udc00' } as const };
      const earlier = { ...changedRecord, details, detailsHash: hashDetails(details, toLegacyCanonicalJson) };
      const hashed = { ...earlier, hash: hashRecord('half', earlier, toLegacyCanonicalJson) };
      await one.forTenant('half').collection(auditRecords).replace(record.id, hashed);
      await one.forTenant('half').collection(auditHeads).replace('head', { sequence: 1, hash: hashed.hash });
      t.is((await signer.sign('half'))?.size, 1);
      t.like(await verifyChain(stores, 'half'), { firstBreak: undefined, records: 1, heads: 1 });
    },
  );

  for (const { what, signedAt, tamper, found } of tamperings) {
    test.serial(`${name}: ${what}: ${found?.kind ?? 'not to be found'}`, async (t) => {
      const tenantId = `t-${tamperings.findIndex((one) => one.what === what)}`;
      const change = changesFor(one, tenantId);
      for (let n = 1; n <= 12; n++) {
        await change(async ({ record }) =>
          record({ id: `thing-${n}`, name: `thing ${n}`, before: { n }, after: { n: n + 1 } }),
        );
        if (signedAt.includes(n)) t.is((await signer.sign(tenantId))?.size, n);
      }
      t.like(await verifyChain(stores, tenantId), { firstBreak: undefined, records: 12, heads: signedAt.length });
      await tamper({
        tenantId,
        records: one.forTenant(tenantId).collection(auditRecords),
        ends: one.forTenant(tenantId).collection(auditHeads),
        heads: stores.heads,
        sign: () => signer.sign(tenantId),
      });
      const { firstBreak } = await verifyChain(stores, tenantId);
      if (found === undefined) t.is(firstBreak, undefined);
      else t.like(firstBreak, found);
    });
  }

  test.serial(`${name}: neither a modified record nor any record after it is signed`, async (t) => {
    const change = changesFor(one, 'unsigned');
    for (let n = 1; n <= 6; n++) {
      await change(async ({ record }) => record({ id: `thing-${n}` }));
      if (n === 3) await signer.sign('unsigned');
    }
    const edited = (await recordsOf('unsigned'))[4];
    await one
      .forTenant('unsigned')
      .collection(auditRecords)
      .update(edited?.id ?? '', { action: 'thing.update' });
    t.is((await signer.sign('unsigned'))?.size, 4);
    t.is((await signer.sign('unsigned'))?.size, 4);
  });

  test.serial(`${name}: other work runs while a chain is read or searched`, async (t) => {
    await appendMany('long', 1_200);
    const iterationsDuring = async (work: () => Promise<unknown>): Promise<number> => {
      let loopIterations = 0;
      const count = (): void => {
        loopIterations++;
        next = setImmediate(count);
      };
      let next = setImmediate(count);
      await work();
      clearImmediate(next);
      return loopIterations;
    };
    t.true((await iterationsDuring(() => recordsOf('long'))) >= 4);
    t.true((await iterationsDuring(() => findNewestRecords(one, 'long', { requestId: 'none' }, { limit: 1 }))) >= 2);
  });

  test.serial(`${name}: an append during the verification of a chain is no break`, async (t) => {
    const change = changesFor(one, 'busy');
    const append = () => change(async ({ record }) => record({ id: 'x' }));
    // The records fill several pages.
    await appendMany('busy', 600);
    let verifying = true;
    const writing = (async () => {
      while (verifying) {
        await append();
        await signer.sign('busy');
      }
    })();
    for (let n = 0; n < 3; n++) t.is(await brokenBy('busy'), undefined);
    verifying = false;
    await writing;
    t.is(await brokenBy('busy'), undefined);
  });

  test.serial(
    `${name}: a chain that lost all its signed tree heads is signed again only when the operator requests it`,
    async (t) => {
      const hoursAgo = (hours: number) => changesFor(one, 'lost', { now: () => Date.now() - hours * 3_600_000 });
      for (const hours of [5, 4, 3]) await hoursAgo(hours)(async ({ record }) => record({ id: 'x' }));
      await changesFor(one, 'lost')(async ({ record }) => record({ id: 'x' }));
      const errors: string[] = [];
      const log = { ...silentLog, error: (_: unknown, message: string) => errors.push(message) } as Log;
      const options = { documents: one, heads: stores.heads, key: stores.key, clock: systemClock, log };
      const restarted = createChainSigner(options);
      t.is(await restarted.signNew('lost'), undefined);
      t.is(await restarted.signNew('lost'), undefined);
      t.false(restarted.isValid('lost'));
      t.is(errors.length, 1);
      t.regex(errors[0] ?? '', /this audit chain has no signed tree head left/);
      t.like(await verifyChain(stores, 'lost'), {
        records: 4,
        heads: 0,
        firstBreak: { kind: 'heads-missing', sequence: 1 },
      });

      t.is((await createChainSigner({ ...options, signFromBeginning: true }).signNew('lost'))?.size, 4);
      t.is((await restarted.signNew('lost'))?.size, 4);
      t.true(restarted.isValid('lost'));
      t.like(await verifyChain(stores, 'lost'), { records: 4, heads: 1, firstBreak: undefined });
    },
  );

  test.serial(
    `${name}: records written shortly before a crash are signed afterwards, however long ago the crash was`,
    async (t) => {
      const yesterday = changesFor(one, 'crashed', { now: () => Date.now() - 86_400_000 });
      for (let n = 0; n < 3; n++) await yesterday(async ({ record }) => record({ id: 'x' }));
      await changesFor(one, 'crashed')(async ({ record }) => record({ id: 'x' }));
      t.is(await brokenBy('crashed'), undefined);
      t.is((await signer.sign('crashed'))?.size, 4);
    },
  );

  // Signers sign all existing chains, so these two tests run before the others create chains.
  test.serial(
    `${name}: a new signer continues from the last head and signs the remaining records on close`,
    async (t) => {
      const append = () => changesFor(one, 'restart')(async ({ record }) => record({ id: 'x' }));
      for (let n = 0; n < 5; n++) await append();
      const { documents, heads, key } = stores;
      const again = () =>
        startHeadSigner({
          documents,
          heads,
          key,
          clock: systemClock,
          log: silentLog,
          jobs: jobsOver(documents),
          recordsPerHead: 10,
          intervalMs: 3_600_000,
        });
      const first = await again();
      t.is((await first.sign('restart'))?.size, 5);
      for (let n = 0; n < 7; n++) await append();
      await first.close();
      const sizes: number[] = [];
      for await (const { size } of heads.listBySize('restart', 0, 100)) sizes.push(size);
      t.deepEqual(sizes, [5, 10, 12]);
      const second = await again();
      await append();
      t.is((await second.sign('restart'))?.size, 13);
      await second.close();
      t.like(await verifyChain(stores, 'restart'), { firstBreak: undefined, heads: 4, records: 13 });
    },
  );

  test.serial(`${name}: instances that sign the same records concurrently agree`, async (t) => {
    const { heads, key } = stores;
    const signerOf = (documents: Documents) =>
      startHeadSigner({
        documents,
        heads,
        key,
        clock: systemClock,
        log: silentLog,
        jobs: jobsOver(documents),
        recordsPerHead: 5,
        intervalMs: 3_600_000,
      });
    const signers = [await signerOf(one), await signerOf(other)];
    const change = changesFor(one, 'agreed');
    for (let n = 0; n < 12; n++) {
      await change(async ({ record }) => record({ id: 'x' }));
      if (n % 3 === 0) await Promise.all(signers.map(({ sign }) => sign('agreed')));
    }
    await Promise.all(signers.map((each) => each.close()));
    const roots = new Map<number, Set<string>>();
    for await (const { size, root } of heads.listBySize('agreed', 0, 12))
      roots.set(size, (roots.get(size) ?? new Set()).add(root));
    t.true(roots.has(12) && [...roots.values()].every((same) => same.size === 1));
    t.like(await verifyChain(stores, 'agreed'), { firstBreak: undefined, records: 12 });
  });

  test.serial(`${name}: records are signed automatically once there are enough of them`, async (t) => {
    const { documents, heads, key } = stores;
    const quick = await startHeadSigner({
      documents,
      heads,
      key,
      clock: systemClock,
      log: silentLog,
      jobs: jobsOver(documents),
      recordsPerHead: 10,
      intervalMs: 3_600_000,
    });
    for (let n = 0; n < 25; n++) await changesFor(one, 'quick')(async ({ record }) => record({ id: 'x' }));
    await eventually('less than ten are not signed', async () => {
      const [newest] = await heads.listNewest('quick');
      return 25 - (newest?.size ?? 0) < 10;
    });
    await quick.close();
    t.pass();
  });

  test.serial(`${name}: a record written during an erasure of details keeps its details`, async (t) => {
    const append = () => changesFor(one, 'erasing')(async ({ record }) => record({ id: 'x' }));
    // The records fill several pages.
    await appendMany('erasing', 600);
    const erasing = patiently(() =>
      eraseDetails(
        { documents: one, clock: systemClock, key: stores.key },
        { tenantId: 'erasing', actor: { type: 'system', id: '' }, requestId: 'r2' },
      ),
    );
    for (let n = 0; n < 20; n++) await append();
    await erasing;
    t.is(await brokenBy('erasing'), undefined);
    t.not((await recordsOf('erasing')).at(-1)?.details, null);
  });

  test.serial(`${name}: details erased during the verification of a chain are no break`, async (t) => {
    for (let n = 0; n < 3; n++) await changesFor(one, 'going')(async ({ record }) => record({ id: 'x' }));
    const erase = () =>
      eraseDetails(
        { documents: one, clock: systemClock, key: stores.key },
        { tenantId: 'going', actor: { type: 'system', id: '' }, requestId: 'r2' },
      );
    const heads: HeadStore = {
      ...stores.heads,
      // Requested after the verification has read the length of the chain.
      async *listBySize(...span) {
        await erase();
        yield* stores.heads.listBySize(...span);
      },
    };
    const found = await verifyChain({ ...stores, heads }, 'going');
    t.like(found, { firstBreak: undefined, records: 3, erasedDetails: 3 });
  });

  test.serial(
    `${name}: erasing a person's details leaves everything else intact and verifiable; the same holds for everybody's details`,
    async (t) => {
      const change = changesFor(one, 'erased');
      const by = (id: string, subject: string) =>
        change(async ({ record }) =>
          record({ id: subject, name: `${subject}@a.example`, actor: { type: 'user', id, name: `${id}@a.example` } }),
        );
      await by('ann', 'bob');
      await by('bob', 'ann');
      await by('ann', 'thing');
      await by('carl', 'thing');
      const erase = (subjectId?: string) =>
        eraseDetails(
          { documents: one, clock: systemClock, key: stores.key },
          { tenantId: 'erased', ...(subjectId && { subjectId }), actor: { type: 'system', id: '' }, requestId: 'r2' },
        );
      t.is(await erase('bob'), 2);
      const hasDetails = (await recordsOf('erased')).map(({ details }) => details !== null);
      t.deepEqual(hasDetails, [false, false, true, true, true]);
      t.like(await verifyChain(stores, 'erased'), { firstBreak: undefined, erasedDetails: 2, records: 5 });
      t.is(await erase(), 2);
      t.is(await erase(), 0);
      t.like(await verifyChain(stores, 'erased'), { firstBreak: undefined, erasedDetails: 4, records: 7 });
      t.false(JSON.stringify(await recordsOf('erased')).includes('a.example'));
      await by('dora', 'thing');
      const last = (await recordsOf('erased'))[7];
      await one
        .forTenant('erased')
        .collection(auditRecords)
        .update(last?.id ?? '', { details: null });
      t.like(await brokenBy('erased'), { kind: 'details-removed', sequence: 8 });
    },
  );

  test.serial(
    `${name}: an unsigned erasure of an earlier version is named, and accounts for no missing details until a signed erasure follows`,
    async (t) => {
      const change = changesFor(one, 'earlier');
      for (let n = 0; n < 3; n++) await change(async ({ record }) => record({ id: 'thing', actor: ann }));
      const erase = () =>
        eraseDetails(
          { documents: one, clock: systemClock, key: stores.key },
          { tenantId: 'earlier', actor: { type: 'system', id: '' }, requestId: 'r2' },
        );
      await erase();
      const records = one.forTenant('earlier').collection(auditRecords);
      const { id, signature: _, ...unsigned } = (await recordsOf('earlier'))[3] as StoredRecord;
      await records.replace(id, unsigned);
      const found = await verifyChain(stores, 'earlier');
      t.like(found.firstBreak, { kind: 'erasure-unsigned', sequence: 1 });
      t.like(found.erasures, [{ sequence: 4, signed: false, details: 0 }]);
      await erase();
      const then = await verifyChain(stores, 'earlier');
      t.is(then.firstBreak, undefined);
      t.like(then.erasures, [{ signed: false }, { sequence: 5, signed: true, details: 3, subject: null }]);
    },
  );
};
