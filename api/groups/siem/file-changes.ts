import { z } from 'zod';
import { encodeCursor, encodeText } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { FileState, fileActions, fileSources } from '../../../schemas/file-changes.ts';
import { type HistoryPage, historyParameters, parseHistoryPage } from '../../../subjects/events/history-page.ts';
import {
  defaultWindowSeconds,
  type JudgedChange,
  type JudgingContext,
  readJudgedChanges,
} from '../../../subjects/file-integrity/approval.ts';
import { type Judgement, type Verdict, verdicts } from '../../../subjects/file-integrity/judge.ts';
import { type ChangeFilter, countChanges } from '../../../subjects/file-integrity/read-changes.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';

const ChangeView = z.strictObject({
  id: z.string(),
  time: z.iso.datetime(),
  source: z.enum(fileSources),
  action: z.enum(fileActions),
  path: z.string(),
  pathBefore: z.string().nullable().describe('Former path of a renamed file, if known'),
  host: z.string(),
  user: z.string(),
  process: z.string(),
  processId: z.string(),
  before: FileState,
  after: FileState,
  changed: z.array(z.string()),
  rule: z.string(),
  service: z.string(),
  projectId: z.string(),
  recordId: z.string().describe('Id of the record for `GET /api/logs/{id}`'),
  verdict: z
    .enum(verdicts)
    .describe(
      'approved: it matches an approved baseline; expected: a package manager or a deployment explains it; unapproved: neither; unknown: cannot be determined',
    ),
  reason: z.string().describe('Reason for the verdict'),
  baselineId: z.string().nullable().describe('The baseline that determined the verdict'),
});

const toView = ({
  change,
  judgement,
}: {
  change: JudgedChange['change'];
  judgement: Judgement;
}): z.input<typeof ChangeView> => ({
  id: change.id,
  time: new Date(Number(change.ms)).toISOString(),
  source: change.source,
  action: change.action,
  path: change.path,
  pathBefore: change.path_before === '' ? null : change.path_before,
  host: change.host,
  user: change.user,
  process: change.process,
  processId: change.process_id,
  before: { ...change.before },
  after: { ...change.after },
  changed: [...change.changed],
  rule: change.rule,
  service: change.of,
  projectId: change.project,
  recordId: change.record,
  ...judgement,
});

const Summary = z
  .strictObject({
    changes: z.int(),
    files: z.int(),
    hosts: z.int(),
    byAction: z.record(z.string(), z.int()),
    bySource: z.record(z.string(), z.int()),
    byVerdict: z.record(z.enum(verdicts), z.int()).describe('Of the newest 2,000'),
    isComplete: z.boolean().describe('false if there are more changes than the verdicts were counted for'),
  })
  .nullable()
  .describe('Of the whole range and all verdicts; null if not requested');

const createNameListSchema = (names: readonly string[]) =>
  z
    .string()
    .max(256)
    .refine((text) => text.split(',').every((value) => names.includes(value)), `must be some of ${names.join(',')}`)
    .optional();

/** Maximum changes that one request reads to find those with a verdict. */
const maxScannedChanges = 5_000;
const maxSummarizedChanges = 2_000;

/** Reads a page of changes with the requested verdicts. If few changes match, the page may be shorter than its limit although there are more. */
const readPage = async (
  judgingContext: JudgingContext,
  filter: ChangeFilter,
  page: HistoryPage,
  requestedVerdicts: readonly string[] | undefined,
): Promise<{ readonly items: JudgedChange[]; readonly next: JudgedChange | undefined }> => {
  const limit = page.limit - 1;
  const items: JudgedChange[] = [];
  let scannedCount = 0;
  for await (const judgedChanges of readJudgedChanges(
    judgingContext,
    filter,
    page,
    requestedVerdicts === undefined ? page.limit : undefined,
  )) {
    const matching = judgedChanges.filter(
      ({ judgement }) => requestedVerdicts === undefined || requestedVerdicts.includes(judgement.verdict),
    );
    const remainingCount = limit - items.length;
    items.push(...matching.slice(0, remainingCount));
    if (matching.length > remainingCount) return { items, next: items.at(-1) };
    scannedCount += judgedChanges.length;
    if (scannedCount >= maxScannedChanges) return { items, next: judgedChanges.at(-1) };
  }
  return { items, next: undefined };
};

const summarizeChanges = async (
  judgingContext: JudgingContext,
  filter: ChangeFilter,
  { range }: HistoryPage,
): Promise<z.input<typeof Summary>> => {
  const counts = await countChanges(judgingContext.reader, filter, range);
  const byVerdict: Record<Verdict, number> = { approved: 0, expected: 0, unapproved: 0, unknown: 0 };
  let summarizedCount = 0;
  for await (const judgedChanges of readJudgedChanges(judgingContext, filter, { range })) {
    for (const { judgement } of judgedChanges) byVerdict[judgement.verdict]++;
    summarizedCount += judgedChanges.length;
    if (summarizedCount >= maxSummarizedChanges) break;
  }
  return {
    ...counts,
    byAction: { ...counts.byAction },
    bySource: { ...counts.bySource },
    byVerdict,
    isComplete: summarizedCount >= counts.changes,
  };
};

export const listFileChanges = defineOperation({
  method: 'GET',
  path: '/api/siem/fim',
  operationId: 'listFileChanges',
  summary: 'List file changes, the newest first, each with its verdict',
  role: 'viewer',
  query: z.strictObject({
    ...historyParameters,
    ...projectScopeParameters,
    host: z.string().min(1).max(512).optional(),
    path: z.string().min(1).max(4096).optional().describe('Files at and below this path'),
    action: createNameListSchema(fileActions).describe(`Comma-separated, of ${fileActions.join(', ')}`),
    source: z.enum(fileSources).optional(),
    user: z.string().min(1).max(512).optional(),
    process: z.string().min(1).max(4096).optional(),
    hash: z
      .string()
      .regex(/^[0-9A-Fa-f]{32,64}$/, 'must be a hash in hexadecimal')
      .optional()
      .describe('Hash of the file before or after'),
    verdict: createNameListSchema(verdicts).describe(`Comma-separated, of ${verdicts.join(', ')}`),
    windowSeconds: z.coerce
      .number()
      .int()
      .min(0)
      .max(86_400)
      .default(defaultWindowSeconds)
      .describe('Maximum time between a change and the package or deployment that explains it'),
    summary: z.enum(['true']).optional().describe('true: the response includes a summary'),
  }),
  response: z.strictObject({ items: z.array(ChangeView), nextCursor: z.string().nullable(), summary: Summary }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const page = parseHistoryPage('fim', query, reader);
    const { host, path, source, user, process, hash, projectId, scope } = query;
    const filter = { host, path, source, user, process, hash, projectId, scope, actions: query.action?.split(',') };
    const judgingContext = {
      reader,
      tenantDocuments: ports.documents.forTenant(caller.tenantId),
      windowMs: query.windowSeconds * 1000,
    };
    const [{ items, next }, summary] = await Promise.all([
      readPage(judgingContext, filter, page, query.verdict?.split(',')),
      query.summary === undefined ? null : summarizeChanges(judgingContext, filter, page),
    ]);
    const { from, to } = page.range;
    return {
      items: items.map(toView),
      nextCursor:
        next === undefined ? null : encodeCursor('fim', [from, to, next.change.ms, encodeText(next.change.id)]),
      summary,
    };
  },
});
