/** Runs new rules over records that were stored before the rules were deployed */

import { parseRetainedRange } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { iterateDocuments } from '../../runtime/documents-in.ts';
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { detectionRules } from '../../schemas/resources/detection-rule.ts';
import type { RetroHunt } from '../../schemas/resources/retro-hunt.ts';
import type { DetectionSignal } from '../../schemas/signals.ts';
import { backtestLogs } from './backtest-logs.ts';
import type { StoredRule } from './deployment.ts';
import { createDeploymentSource } from './rule-tests.ts';
import type { RuleRun } from './rule-threads.ts';

const huntRangeMs = 86_400_000;
/** Delay after which the stream evaluates a deployed rule, in milliseconds */
const deploymentDelayMs = 10_000;
const maxRecords = 500_000;
const maxSignals = 10_000;

/** Returns a hunt over the last day for rules that are deployed now. */
export const createHunt = (ruleIds: readonly string[], nowMs: number): RetroHunt => ({
  ruleIds,
  fromMs: nowMs - huntRangeMs,
  toMs: nowMs + deploymentDelayMs,
  status: 'running',
  records: 0,
  signals: 0,
  isComplete: true,
  message: '',
});

/**
 * Returns the rules of the hunt that are still enabled, with filters and correlations. A correlation may reference any
 * rule.
 */
const selectRules = async (
  tenantDocuments: Pick<TenantDocuments, 'collection'>,
  ids: ReadonlySet<string>,
): Promise<StoredRule[]> => {
  const enabled: StoredRule[] = [];
  for await (const rule of iterateDocuments(tenantDocuments.collection(detectionRules), { filter: { enabled: true } }))
    enabled.push(rule);
  const needsAll = enabled.some(({ id, kind }) => kind === 'correlation' && ids.has(id));
  return enabled.filter(({ id, kind }) => needsAll || kind !== 'rule' || ids.has(id));
};

/**
 * Runs a hunt. Signals have the same ids as those that the stream emitted for the same records. If the time budget
 * ends, the signals found so far are returned.
 */
export const runHunt = async (
  { ruleIds, fromMs, toMs }: RetroHunt,
  {
    reader,
    tenantDocuments,
    ...run
  }: { readonly reader: TenantReader; readonly tenantDocuments: Pick<TenantDocuments, 'collection'> } & Omit<
    RuleRun,
    'nowMs'
  >,
): Promise<Pick<RetroHunt, 'records' | 'isComplete'> & { readonly signals: readonly DetectionSignal[] }> => {
  const ids = new Set(ruleIds);
  const rules = await selectRules(tenantDocuments, ids);
  if (!rules.some(({ id }) => ids.has(id))) return { records: 0, isComplete: true, signals: [] };
  const { nowMs } = reader;
  const retainedFromMs = nowMs - reader.plan.retentionDays.logs * 86_400_000;
  const rangeText = { from: String(Math.max(fromMs, retainedFromMs)), to: String(toMs) };
  const range = parseRetainedRange(rangeText, { caller: reader, signal: 'logs', nowMs });
  const exportQuery = { filter: { scope: 'account' as const }, range, limit: maxRecords };
  /** By id: a signal that is emitted again replaces the earlier one and includes all signals that it suppressed. */
  const signals = new Map<string, DetectionSignal>();
  let records = 0;
  const toDeploy = await createDeploymentSource(rules, tenantDocuments);
  const hasCompleted = await backtestLogs(reader, { ...run, toDeploy, nowMs }, exportQuery, (page) => {
    records += page.records;
    for (const signal of page.signals) if (ids.has(signal.ruleId)) signals.set(signal.id, signal);
    return signals.size < maxSignals;
  });
  return {
    records,
    isComplete: hasCompleted && records < maxRecords,
    signals: [...signals.values()].slice(0, maxSignals),
  };
};
