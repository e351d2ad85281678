/** Previews an exception: returns the past signals that it would have covered, by evaluating their records. */

import { readLogs } from '../../queries/logs/pages.ts';
import type { Range } from '../../queries/range.ts';
import type { LogRecord } from '../../queries/signals/log-record.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { DetectionSignal } from '../../schemas/signals.ts';
import { createHistoryCondition } from '../events/history-page.ts';
import { toDetectedRecord } from './backtest.ts';
import { type DeploymentSource, type StoredRule, toExceptionKey } from './deployment.ts';
import { type RuleRun, RuleThreads } from './rule-threads.ts';
import { parseEvents, type StoredSignal, selectSignals } from './stored-signals.ts';

/** Maximum number of signals that are evaluated, the newest first */
export const maxPreviewedSignals = 2_000;
const recordsPerQuery = 500;

const previewThreads = new RuleThreads();

export interface PreviewedRule {
  readonly ruleId: string;
  readonly ruleTitle: string;
  readonly kind: DetectionSignal['kind'];
  readonly signals: number;
  /**
   * For the rule itself: signals that the exception covers. For a correlation: signals with at least one covered
   * record.
   */
  readonly covered: number;
  /** Signals whose records are no longer stored */
  readonly unknown: number;
  readonly examples: readonly StoredSignal[];
}

/**
 * Returns a rule's signals of a range that no exception covers, and those of correlations that include its records, the
 * newest first.
 */
const readRuleSignals = async (
  { columns }: Pick<TenantReader, 'columns'>,
  ruleId: string,
  range: Range,
): Promise<readonly StoredSignal[]> => {
  const { sql, values } = createHistoryCondition({ range, limit: 0 }, 'id');
  return columns.query<StoredSignal>(
    `${selectSignals} AND ${sql} AND suppressed_by = ''
      AND (rule_id = {rule:String} OR (kind = 'correlation' AND position(events, {named:String}) > 0))
    ORDER BY time DESC, id DESC, event_count LIMIT 1 BY id LIMIT ${maxPreviewedSignals + 1}`,
    { ...values, rule: ruleId, named: `"ruleId":${JSON.stringify(ruleId)}` },
    { maxResultRows: maxPreviewedSignals + 1 },
  );
};

const recordIdPattern = /^(\d{1,20})-(\d{1,10})-(\d{1,20})-(\d{1,10})$/;

/** Returns stored records by id. */
const readRecords = async (
  { columns }: Pick<TenantReader, 'columns'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LogRecord>> => {
  const records = new Map<string, LogRecord>();
  const idMatches = ids.map((id) => recordIdPattern.exec(id)).filter((idMatch) => idMatch !== null);
  for (let from = 0; from < idMatches.length; from += recordsPerQuery) {
    const idBatch = idMatches.slice(from, from + recordsPerQuery);
    const buckets = new Set(idBatch.map(([, ns = '0']) => (BigInt(ns) / 600_000_000_000n) * 600n));
    const tuples = idBatch.map(([, ns, partition, offset, ordinal]) => `(${ns}, ${partition}, ${offset}, ${ordinal})`);
    const condition = `toStartOfTenMinutes(timestamp) IN (${[...buckets].map((bucket) => `toDateTime(${bucket}, 'UTC')`).join(', ')})
      AND (toUnixTimestamp64Nano(timestamp), logs.partition, logs.offset, logs.ordinal) IN (${tuples.join(', ')})`;
    for (const { record } of await readLogs(columns, condition, {}, idBatch.length)) records.set(record.id, record);
  }
  return records;
};

/**
 * Returns how many past signals the single exception of a deployed rule would have covered, the rule first. Signals
 * whose records are no longer stored count as unknown.
 */
export const previewException = async (
  reader: TenantReader,
  {
    rule,
    toDeploy,
    exceptionId,
    ...run
  }: RuleRun & { rule: StoredRule; toDeploy: DeploymentSource; exceptionId: string },
  range: Range,
): Promise<{ readonly rules: readonly PreviewedRule[]; readonly isComplete: boolean }> => {
  const storedSignals = await readRuleSignals(reader, rule.id, range);
  const signals = storedSignals.slice(0, maxPreviewedSignals);
  const matchedRecordIds = (signal: StoredSignal): string[] =>
    parseEvents(signal)
      .filter(({ ruleId }) => ruleId === rule.id)
      .map(({ recordId }) => recordId);
  const records = await readRecords(reader, [...new Set(signals.flatMap(matchedRecordIds))]);
  const key = toExceptionKey(rule.id, exceptionId);
  const ids = [...records.keys()];
  const matches = await previewThreads.run(toDeploy, run, (rules) =>
    rules.findMatches([...records.values()].map((record) => toDetectedRecord('', record).values)),
  );
  const covered = new Set(ids.filter((_, bucket) => matches[bucket]?.some(({ ruleId }) => ruleId === key)));
  const rules = [...Map.groupBy(signals, ({ rule_id }) => rule_id).values()].map((ruleSignals): PreviewedRule => {
    const [newest] = ruleSignals as [StoredSignal];
    const examples = ruleSignals.filter((signal) => matchedRecordIds(signal).some((id) => covered.has(id)));
    return {
      ruleId: newest.rule_id,
      ruleTitle: newest.rule_title,
      kind: newest.kind,
      signals: ruleSignals.length,
      covered: examples.length,
      examples: examples.slice(0, 10),
      unknown: ruleSignals.filter((signal) => matchedRecordIds(signal).every((id) => !records.has(id))).length,
    };
  });
  const sortRank = ({ ruleId }: PreviewedRule): number => (ruleId === rule.id ? 0 : 1);
  return {
    rules: rules.toSorted((left, right) => sortRank(left) - sortRank(right) || right.covered - left.covered),
    isComplete: storedSignals.length <= maxPreviewedSignals,
  };
};
