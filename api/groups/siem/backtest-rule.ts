import { z } from 'zod';
import { logFilterParameters } from '../../../queries/logs/filter.ts';
import { parseRetainedRange, rangeParameters } from '../../../queries/range.ts';
import { DetectionSignal } from '../../../schemas/signals.ts';
import { backtestLogs } from '../../../subjects/detections/backtest-logs.ts';
import { createRuleDeploymentSource } from '../../../subjects/detections/rule-tests.ts';
import { SignalEventView, toSignalEventView } from '../../../subjects/detections/stored-signals.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { ruleResource } from './rule.ts';

const maxRecords = 200_000;
const maxItems = 200;
/** Results found within this time are returned, before the time limit of the request. */
const maxScanMs = 60_000;

const BacktestSignal = DetectionSignal.omit({ tenantId: true }).extend({ events: z.array(SignalEventView) });

export const backtestDetectionRule = defineOperation({
  method: 'POST',
  path: '/api/siem/rules/{id}/backtest',
  operationId: 'backtestDetectionRule',
  summary: 'Run a rule on stored log records; it returns the same signals as the stream does for these records',
  role: 'editor',
  auditExemption: 'read-only',
  budgetMs: 120_000,
  params: idParameter,
  body: z.strictObject({
    from: rangeParameters.from,
    to: rangeParameters.to,
    search: logFilterParameters.search.describe('Only log records that match this search'),
    limit: z.int().min(1).max(maxRecords).default(maxRecords).describe('Maximum number of records, the oldest first'),
  }),
  response: z.strictObject({
    records: z.int().describe('Number of records that were evaluated'),
    isComplete: z
      .boolean()
      .describe(
        `false if the range has more records than the limit, or their evaluation took longer than ${maxScanMs / 1000} seconds`,
      ),
    signals: z.int(),
    items: z.array(BacktestSignal).describe(`The first ${maxItems} signals, oldest first`),
  }),
  async handler({ caller, params, body, signal }, ports) {
    const tenantDocuments = ports.documents.forTenant(caller.tenantId);
    const rule = await tenantDocuments.collection(ruleResource.collection).find(params.id);
    if (rule === undefined) throw createNotFoundError('detection rule');
    const reader = createQueryReader(caller, ports);
    const { nowMs } = reader;
    const range = parseRetainedRange(body, { caller: reader, signal: 'logs', nowMs });
    const ruleDeploymentSource = await createRuleDeploymentSource(rule, tenantDocuments);
    const items = new Map<string, z.output<typeof BacktestSignal>>();
    const ids = new Set<string>();
    let scannedRecords = 0;
    const recordsQuery = { filter: { search: body.search, scope: 'account' as const }, range, limit: body.limit };
    const backtestOptions = {
      tenantId: caller.tenantId,
      nowMs,
      budgetMs: maxScanMs,
      signal,
      toDeploy: ruleDeploymentSource,
    };
    const hasEvaluatedAll = await backtestLogs(reader, backtestOptions, recordsQuery, ({ records, signals }) => {
      scannedRecords += records;
      for (const { tenantId: _, events, ...rest } of signals.filter(({ ruleId }) => ruleId === rule.id)) {
        const signalView = { ...rest, events: events.map(toSignalEventView) };
        ids.add(signalView.id);
        // A repeated signal replaces the earlier one, including the counts of its suppressed signals.
        if (items.has(signalView.id) || items.size < maxItems) items.set(signalView.id, signalView);
      }
      return true;
    });
    return {
      records: scannedRecords,
      signals: ids.size,
      items: [...items.values()],
      isComplete: hasEvaluatedAll && scannedRecords < body.limit,
    };
  },
});
