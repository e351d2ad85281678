/** Imports of detection rules that other writers change at the same time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import type { Caller } from '../../api/callers/caller.ts';
import { createTransact } from '../../api/changes.ts';
import { importDetectionRules } from '../../api/groups/siem/import-rules.ts';
import { ensureCollections } from '../../api/index.ts';
import type { Ports } from '../../api/kernel/ports.ts';
import type { RequestFacts } from '../../api/request-facts.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { detectionRules } from '../../schemas/resources/detection-rule.ts';
import { defaultPlans } from '../../schemas/resources/plan.ts';
import { retroHunts } from '../../schemas/resources/retro-hunt.ts';

const tenantId = 'acme';
const clock = { now: () => Date.parse('2026-11-25T10:00:00Z') };
const toId = (index: number): string => `11111111-1111-4111-8111-${String(index).padStart(12, '0')}`;
const toRule = (index: number, image: string): string =>
  [
    `title: Rule ${index}`,
    `id: ${toId(index)}`,
    'status: stable',
    'level: high',
    'logsource: { category: process_creation, product: windows }',
    'detection:',
    `  selection: { Image|endswith: '\\${image}.exe' }`,
    '  condition: selection',
  ].join('\n');

/** A platform in which an import calls `onRead` before it reads rule 50, which is in its second batch. */
const setUp = async (onRead: () => Promise<void>) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-import-'));
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  await ensureCollections(documents);
  const actor = { type: 'user', id: 'u1', name: 'ann@example.com' };
  const caller = { tenantId, actor, plan: defaultPlans.pro } as unknown as Caller;
  const own = documents.forTenant(tenantId);
  const watched = {
    tenantId: own.tenantId,
    collection: (definition: typeof detectionRules) => {
      const collection = own.collection(definition);
      if (definition.name !== detectionRules.name) return collection;
      const find = async (id: string) => {
        const found = await collection.find(id);
        if (id === toId(50)) await onRead();
        return found;
      };
      return Object.assign(Object.create(collection), { find, list: collection.list.bind(collection) });
    },
  };
  const ports = {
    documents: { forTenant: () => watched },
    clock,
    log: silentLog,
    columns: { forTenant: () => ({ query: async () => [] }) },
  } as unknown as Ports;
  const request = { requestId: 'r1', address: '192.0.2.1', userAgent: '', header: () => '' } as unknown as RequestFacts;
  const importRules = async (texts: readonly string[]) => {
    const change = createTransact(
      { documents, clock, directory: { applyWrite: () => undefined } },
      { caller, actions: importDetectionRules.audit, request },
    );
    const body = { files: texts.map((source) => ({ name: '', source })) };
    const signal = new AbortController().signal;
    const raw = { caller, params: {}, query: {}, body, request, signal, change };
    return (await importDetectionRules.run(raw as never, ports)) as {
      readonly items: readonly { readonly ruleId: string; readonly outcome: string; readonly message: string }[];
    };
  };
  const listHunts = async () =>
    (await own.collection(retroHunts).list({ limit: 10 })).items.map(({ ruleIds }) => ruleIds);
  const close = async (): Promise<void> => {
    await documents.close();
    rmSync(directory, { recursive: true, force: true });
  };
  return { importRules, listHunts, rules: own.collection(detectionRules), close };
};

const firstBatch = Array.from({ length: 50 }, (_, index) => toId(index));
const texts = Array.from({ length: 51 }, (_, index) => toRule(index, 'changed'));

test('A rule that others change all the time is refused by its item, and the others are imported and hunted', async (t) => {
  let isBusy = false;
  const { importRules, listHunts, rules, close } = await setUp(async () => {
    const before = isBusy ? await rules.find(toId(50)) : undefined;
    if (before !== undefined) await rules.replace(toId(50), { ...before, title: `${before.title}.` }, before.version);
  });
  t.teardown(close);
  await importRules([toRule(50, 'original')]);
  isBusy = true;
  const { items } = await importRules(texts);
  t.is(items.filter(({ outcome }) => outcome === 'created').length, 50);
  const refused = items.filter(({ outcome }) => outcome === 'refused');
  t.deepEqual(
    refused.map(({ ruleId }) => ruleId),
    [toId(50)],
  );
  t.regex(refused[0]?.message ?? '', /changed by others/);
  t.deepEqual(
    (await listHunts()).toSorted((left, right) => left.length - right.length),
    [[toId(50)], firstBatch],
  );
});

test('Rules of the batches that were written are hunted when a later batch fails', async (t) => {
  const { importRules, listHunts, close } = await setUp(async () => {
    throw new UnavailableError('the documents cannot be read');
  });
  t.teardown(close);
  await t.throwsAsync(importRules(texts), { message: 'the documents cannot be read' });
  t.deepEqual(await listHunts(), [firstBatch]);
});
