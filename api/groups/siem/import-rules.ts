import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { WorkerRequester } from '../../../queries/worker.ts';
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import { getFields } from '../../../runtime/stored-fields.ts';
import type { StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { retroHunts } from '../../../schemas/resources/retro-hunt.ts';
import { readArchiveInWorker, type SigmaFile } from '../../../subjects/detections/archive.ts';
import { findDifferingFieldsInWorker } from '../../../subjects/detections/differing-fields.ts';
import {
  formatSigmaError,
  type SigmaDocument,
  sigmaLevels,
  sigmaStatuses,
} from '../../../subjects/detections/documents.ts';
import { readRulesInWorker } from '../../../subjects/detections/read.ts';
import { createHunt } from '../../../subjects/detections/retro-hunt.ts';
import { runTests } from '../../../subjects/detections/rule-tests.ts';
import { findRuleTelemetry } from '../../../subjects/detections/telemetry.ts';
import { findWarnings } from '../../../subjects/detections/warnings.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Transact } from '../../changes.ts';
import { ApiError, createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { OutdatedDocumentError, retryOutdated } from '../../resources/outdated-document.ts';
import { deriveFields, parseRuleFields, type RuleDocument, ruleResource } from './rule.ts';
import { readRuleTelemetry } from './telemetry.ts';

const outcomes = ['created', 'changed', 'unchanged', 'refused', 'deleted', 'absent'] as const;

const Item = z.strictObject({
  ruleId: z
    .string()
    .describe("The document's own id, or one derived from its title and log source; empty without a title"),
  title: z.string(),
  outcome: z.enum(outcomes),
  message: z
    .string()
    .describe(
      'Problems, changes, missing telemetry, and probably unintended settings; with file and line for a document in an archive',
    ),
});
type Item = z.output<typeof Item>;

interface ImportedDocument {
  readonly file: string;
  readonly document: SigmaDocument;
  readonly id: string;
}

const disabledMessage = 'it is not enabled';
const outdatedMessage = 'the rule was changed by others at the same time: import it again';

/** Maximum number of documents that one transaction writes, because it must end within seconds */
const documentsPerBatch = 50;

/** Returns the id of a document. A document without an id gets the same derived id at every import. */
const getDocumentId = (document: SigmaDocument): string => {
  if (document.id !== '') return document.id;
  const source = document.kind === 'correlation' ? [] : document.logsource;
  const hash = createHash('sha256')
    .update(JSON.stringify([document.kind, document.title, source]))
    .digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
};

const readDocuments = async (
  reader: WorkerRequester,
  files: readonly SigmaFile[],
): Promise<{ readonly importedDocuments: ImportedDocument[]; readonly rejectedItems: Item[] }> => {
  const importedDocuments: ImportedDocument[] = [];
  const rejectedItems: Item[] = [];
  const ids = new Set<string>();
  const texts = files.map(({ source }) => source);
  for (const [index, { documents, errors }] of (await readRulesInWorker(reader, texts)).entries()) {
    const file = files[index]?.name ?? '';
    const locationPrefix = file === '' ? '' : `${file}: `;
    for (const documentErrors of Map.groupBy(errors, ({ document }) => document).values())
      rejectedItems.push({
        ruleId: '',
        title: documentErrors[0]?.title ?? '',
        outcome: 'refused',
        message: locationPrefix + documentErrors.map(formatSigmaError).join('; '),
      });
    for (const document of documents) {
      const id = getDocumentId(document);
      if (ids.has(id))
        rejectedItems.push({
          ruleId: id,
          title: document.title,
          outcome: 'refused',
          message: `${locationPrefix}another document of this import has the id ${id}`,
        });
      else importedDocuments.push({ file, document, id });
      ids.add(id);
    }
  }
  return { importedDocuments, rejectedItems };
};

const Query = z.strictObject({
  dryRun: z
    .enum(['true', 'false'])
    .optional()
    .describe('true: nothing is written; the response contains the expected result'),
  enabled: z.enum(['true', 'false']).optional().describe('false: new rules are disabled'),
  status: z
    .string()
    .max(128)
    .refine(
      (text) => text.split(',').every((value) => (sigmaStatuses as readonly string[]).includes(value)),
      `must be some of ${sigmaStatuses.join(',')}`,
    )
    .optional()
    .describe('Only new rules with these statuses are enabled; comma-separated'),
  minLevel: z.enum(sigmaLevels).optional().describe('Only new rules with this level or above are enabled'),
  scope: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe(
      'The documents are the complete content of this scope: its rules that are not among them are reported as absent',
    ),
  takeOver: z
    .enum(['true', 'false'])
    .optional()
    .describe('true: also change rules of the same id that were not imported before, such as those made by hand'),
  prune: z
    .enum(['true', 'false'])
    .optional()
    .describe('true, with a scope: its absent rules are deleted, unless a document was rejected'),
});
type Query = z.output<typeof Query>;

const isEnabled = ({ status, level }: SigmaDocument, { enabled, status: statuses, minLevel }: Query): boolean =>
  enabled !== 'false' &&
  (statuses === undefined || (status !== undefined && statuses.split(',').includes(status))) &&
  (minLevel === undefined || sigmaLevels.indexOf(level ?? 'medium') >= sigmaLevels.indexOf(minLevel));

/** Returns why an import must not change a rule: another scope owns it, or it was made by hand. */
const findOwnershipProblem = (
  { id, scope, isImported }: RuleDocument & StoredMetadata,
  differingFields: readonly string[],
  query: Query,
): string | undefined => {
  if (query.scope !== undefined && scope !== '' && scope !== query.scope)
    return `it belongs to the scope ${scope}: remove it from that scope first`;
  const isForeign = isImported !== true && scope === '' && query.takeOver !== 'true';
  return isForeign && differingFields.length > 0
    ? `the rule with the id ${id} was not imported: import again with takeOver to change it, or give the document another id`
    : undefined;
};

interface ImportPlan {
  readonly item: Item;
  readonly next?: RuleDocument;
}

/** Plans the import of a document that equals its rule: the rule becomes an imported one, which later imports may change. */
const planUnchanged = (item: Item, { isImported }: RuleDocument, next: RuleDocument): ImportPlan =>
  isImported === true ? { item } : { item, next };

/** Plans the import of a document: the result to report, and the rule to store. Settings that the team made are preserved. */
const planImport = async (
  { document, id }: ImportedDocument,
  before: (RuleDocument & StoredMetadata) | undefined,
  {
    reader,
    query,
    tenantDocuments,
  }: {
    readonly reader: WorkerRequester;
    readonly query: Query;
    readonly tenantDocuments: Parameters<typeof runTests>[2];
  },
): Promise<ImportPlan> => {
  const base = { ruleId: id, title: document.title };
  const scope = before?.scope ?? '';
  const differingFields =
    before === undefined ? [] : await findDifferingFieldsInWorker(reader, before.source, document.source);
  const ownershipProblem = before === undefined ? undefined : findOwnershipProblem(before, differingFields, query);
  if (ownershipProblem !== undefined) return { item: { ...base, outcome: 'refused', message: ownershipProblem } };
  const currentFields = before === undefined ? parseRuleFields({ source: document.source }) : getFields(before);
  const next = {
    ...currentFields,
    source: document.source,
    isImported: true,
    scope: query.scope ?? scope,
    ...deriveFields(document, currentFields.risk),
    ...(before === undefined && { enabled: isEnabled(document, query) }),
  };
  if (before === undefined)
    return { item: { ...base, outcome: 'created', message: next.enabled ? '' : disabledMessage }, next };
  const fields = [...differingFields, ...(next.scope === scope ? [] : ['scope'])];
  if (fields.length === 0) return planUnchanged({ ...base, outcome: 'unchanged', message: '' }, before, next);
  const [failedTest] = next.mayFailTests
    ? []
    : await runTests({ document, anySource: next.anySource }, next.tests, tenantDocuments);
  if (failedTest !== undefined)
    return { item: { ...base, outcome: 'refused', message: `${failedTest.path}: ${failedTest.message}` } };
  return { item: { ...base, outcome: 'changed', message: `changes ${fields.join(', ')}` }, next };
};

/** Deletes rules of a scope that are not among the documents, if requested and if the documents are complete. */
const pruneScope = async (
  ids: ReadonlySet<string>,
  hasRejected: boolean,
  { query, tenantDocuments, remove }: PruneContext,
): Promise<Item[]> => {
  const { scope } = query;
  if (scope === undefined) return [];
  const items: Item[] = [];
  for await (const { id, title } of iterateDocuments(tenantDocuments.collection(ruleResource.collection), {
    filter: { scope },
  }))
    if (!ids.has(id)) items.push({ ruleId: id, title, outcome: 'absent', message: `it belongs to the scope ${scope}` });
  if (query.prune !== 'true') return items;
  if (hasRejected)
    return items.map((item) => ({
      ...item,
      message: `${item.message}; nothing is deleted while documents are rejected`,
    }));
  if (query.dryRun !== 'true')
    for (let from = 0; from < items.length; from += documentsPerBatch)
      await remove(items.slice(from, from + documentsPerBatch).map(({ ruleId }) => ruleId));
  return items.map((item) => ({ ...item, outcome: 'deleted' }));
};
interface PruneContext {
  readonly query: Query;
  readonly tenantDocuments: TenantDocuments;
  remove(ids: readonly string[]): Promise<void>;
}

export const importDetectionRules = defineOperation({
  method: 'POST',
  path: '/api/siem/rules/import',
  operationId: 'importDetectionRules',
  summary:
    'Import Sigma documents from YAML or a zip archive, with a result for each; a repeated import changes nothing',
  role: 'editor',
  audit: ['detection-rule.import', 'detection-rule.create', 'detection-rule.replace', 'detection-rule.delete'],
  maxBodyBytes: 32 * 1024 * 1024,
  budgetMs: 300_000,
  query: Query,
  body: z.strictObject({
    files: z
      .array(z.strictObject({ name: z.string().max(1024).default(''), source: z.string().max(4_000_000) }))
      .min(1)
      .max(20_000)
      .describe('YAML texts; the body of application/yaml is one text, the files in application/zip are the texts'),
  }),
  alsoAccepts: {
    'application/yaml': (bytes) => ({ files: [{ name: '', source: Buffer.from(bytes).toString('utf8') }] }),
    'application/zip': async (bytes, caller) => {
      const archive = await readArchiveInWorker(
        { tenantId: caller?.tenantId ?? '', callerId: caller?.actor.id },
        bytes,
      );
      if ('problem' in archive) throw createFieldError('', archive.problem);
      return archive;
    },
  },
  response: z.strictObject({ items: z.array(Item) }),
  async handler({ caller, query, body, change, signal }, ports) {
    const reader = { tenantId: caller.tenantId, callerId: caller.actor.id, signal };
    const { importedDocuments, rejectedItems } = await readDocuments(reader, body.files);
    if (importedDocuments.length + rejectedItems.length === 0)
      throw createFieldError('files', 'contain no Sigma document');
    if (query.prune === 'true' && query.scope === undefined)
      throw createFieldError('prune', 'needs a scope: only rules of that scope are deleted');
    const tenantDocuments = ports.documents.forTenant(caller.tenantId);
    const { tables, telemetry } = await readRuleTelemetry({ caller, ports });
    const items: Item[] = [];
    try {
      for (let from = 0; from < importedDocuments.length; from += documentsPerBatch) {
        const batch = importedDocuments.slice(from, from + documentsPerBatch);
        if (query.dryRun === 'true')
          for (const importedDocument of batch) {
            const before = await tenantDocuments.collection(ruleResource.collection).find(importedDocument.id);
            items.push((await planImport(importedDocument, before, { reader, query, tenantDocuments })).item);
          }
        else
          items.push(
            ...(await retryOutdated('detection rules', (isLastAttempt) =>
              importBatch(batch, { caller, reader, query, change, tenantDocuments, isLastAttempt }),
            )),
          );
      }
    } finally {
      // Also after a failure: a repeated import would report the rules of the written batches as unchanged.
      if (query.dryRun !== 'true') await startHunt(items, tenantDocuments, ports.clock.now());
    }
    const documents = new Map(importedDocuments.map(({ id, document }) => [id, document]));
    const importedItems = items.map((item): Item => {
      const document = documents.get(item.ruleId);
      if (document === undefined || (item.outcome !== 'created' && item.outcome !== 'changed')) return item;
      const { isSeen, reason } = findRuleTelemetry(document, tables, telemetry);
      const telemetryWarnings = isSeen === false ? [`the required telemetry is not sent: ${reason}`] : [];
      const messages = [item.message, ...telemetryWarnings, ...findWarnings(document, tables)];
      return { ...item, message: messages.filter((text) => text !== '').join('; ') };
    });
    const hasRejected = rejectedItems.length > 0 || items.some(({ outcome }) => outcome === 'refused');
    const prunedItems = await pruneScope(new Set(documents.keys()), hasRejected, {
      query,
      tenantDocuments,
      remove: (ids) =>
        change(async (scope) => {
          const writer = ruleResource.createWriter(scope, caller);
          for (const id of ids) await writer.remove(id, { action: 'detection-rule.delete' });
        }),
    });
    return { items: [...importedItems, ...prunedItems, ...rejectedItems] };
  },
});

/** Starts one hunt for all created rules that are enabled, because each hunt reads the records of a day. */
const startHunt = async (items: readonly Item[], tenantDocuments: TenantDocuments, nowMs: number): Promise<void> => {
  const ruleIds = items
    .filter(({ outcome, message }) => outcome === 'created' && message !== disabledMessage)
    .map(({ ruleId }) => ruleId);
  if (ruleIds.length > 0) await tenantDocuments.collection(retroHunts).insert(createHunt(ruleIds, nowMs));
};

/** Writes a planned rule; returns the result to report, also if the rule is rejected. */
const writePlanned = async (
  writer: ReturnType<typeof ruleResource.createWriter>,
  item: Item,
  { id, ...next }: RuleDocument & { readonly id: string },
  isNew: boolean,
): Promise<Item> => {
  try {
    if (isNew) await writer.create({ ...next, id }, { action: 'detection-rule.create' });
    else await writer.change(id, () => next, { action: 'detection-rule.replace' });
    return item;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ...item, outcome: 'refused', message: error.message };
  }
};

/**
 * Imports a batch: its tests run before the transaction, because nobody else may wait for them. The last attempt rejects
 * rules that others changed meanwhile, and imports the others.
 */
const importBatch = async (
  batch: readonly ImportedDocument[],
  {
    caller,
    reader,
    query,
    change,
    tenantDocuments,
    isLastAttempt,
  }: {
    readonly caller: Caller;
    readonly reader: WorkerRequester;
    readonly query: Query;
    readonly change: Transact;
    readonly tenantDocuments: TenantDocuments;
    readonly isLastAttempt: boolean;
  },
): Promise<Item[]> => {
  const plans: { readonly id: string; readonly version: number | undefined; readonly plan: ImportPlan }[] = [];
  for (const importedDocument of batch) {
    const before = await tenantDocuments.collection(ruleResource.collection).find(importedDocument.id);
    plans.push({
      id: importedDocument.id,
      version: before?.version,
      plan: await planImport(importedDocument, before, { reader, query, tenantDocuments }),
    });
  }
  return change(async (scope) => {
    const writer = ruleResource.createWriter(scope, caller);
    const stored = scope.forTenant(caller.tenantId).collection(ruleResource.collection);
    // There may be no changes.
    scope.markUnchanged();
    const items: Item[] = [];
    for (const { id, version, plan } of plans) {
      const { item, next } = plan;
      const isOutdated = next !== undefined && (await stored.find(id))?.version !== version;
      if (isOutdated && !isLastAttempt) throw new OutdatedDocumentError();
      if (isOutdated) items.push({ ...item, outcome: 'refused', message: outdatedMessage });
      else if (next === undefined) items.push(item);
      else items.push(await writePlanned(writer, item, { ...next, id }, version === undefined));
    }
    return items;
  });
};

export const exportDetectionRules = defineOperation({
  method: 'GET',
  path: '/api/siem/rules/export',
  operationId: 'exportDetectionRules',
  summary: 'Export detection rules as YAML, one document after the other',
  role: 'viewer',
  contentType: 'application/yaml; charset=utf-8',
  query: z.strictObject({ enabled: z.enum(['true', 'false']).optional() }),
  response: z.string(),
  async handler({ caller, query }, ports) {
    const stored = ports.documents.forTenant(caller.tenantId).collection(ruleResource.collection);
    const texts: string[] = [];
    const filter = query.enabled === undefined ? {} : { enabled: query.enabled === 'true' };
    for await (const { source } of iterateDocuments(stored, { filter, sort: { title: 1 } }))
      texts.push(source.trimEnd());
    return texts.length === 0 ? '' : `${texts.join('\n---\n')}\n`;
  },
});
