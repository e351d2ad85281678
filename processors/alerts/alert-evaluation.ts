/** Evaluates alert rules when they are due. */
import { z } from 'zod';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { recordedSamples } from '../../schemas/recorded-samples.ts';
import { alertRules, type StoredAlertRule } from '../../schemas/resources/alert-rule.ts';
import { topics } from '../../schemas/topics.ts';
import { parseDurationMs } from '../../subjects/alerts/durations.ts';
import { createRuleNoDataEvent, findHasData } from '../../subjects/alerts/empty-results.ts';
import { type Evaluation, evaluate } from '../../subjects/alerts/evaluate.ts';
import { toEvaluationRecords, toPlatformEvent } from '../../subjects/alerts/evaluation-record.ts';
import { createTemplateQuery } from '../../subjects/alerts/query-text.ts';
import { createAlertSeries } from '../../subjects/alerts/recording/alert-series.ts';
import { type AlertRule, parseStoredRule } from '../../subjects/alerts/rule.ts';
import type { RuleQueryResult } from '../../subjects/alerts/rule-query-result.ts';
import { queryRule } from '../../subjects/alerts/run-query.ts';
import { emptyState, type RuleState } from '../../subjects/alerts/state.ts';
import { renderWithQueries } from '../../subjects/alerts/templates/queries.ts';
import {
  advanceDataState,
  type DataState,
  isDataOverdue,
  storeDataState,
} from '../../subjects/empty-results/empty-results.ts';
import { openTenantReader } from '../engine/open-tenant-reader.ts';
import { type DueTiming, defineSchedule, type Run } from '../engine/schedule.ts';
import { getRuleBatcher } from './rule-batchers.ts';
import { splitSamples } from './split-samples.ts';

/** Parsed rules by document; a document stays the same object until it changes. */
const parsedRules = new WeakMap<object, AlertRule>();

const parseRule = (document: StoredAlertRule & StoredMetadata): AlertRule => {
  const rule = parsedRules.get(document) ?? parseStoredRule(document);
  if (rule === undefined)
    throw new Error(
      `the format of the alert rule ${document.id}, version ${document.queryVersion}, is not supported here`,
    );
  parsedRules.set(document, rule);
  return rule;
};

/** Spacing of due times within an organization: rules with the same due time are queried in one batch. */
export const batchMs = 5000;
/**
 * Time slices of SLOs end on the minute and are measured shortly afterwards (`../slos/slo-measurement.ts`). Their rules
 * are evaluated after the slices are stored, and share few due times, because most of their cost is in shared statements.
 */
const sloDueTiming: DueTiming = { batchMs: 10_000, within: { fromMs: 20_000, toMs: 40_000 } };

/** Returns when a rule becomes due. */
export const getDueTiming = ({ condition }: AlertRule): DueTiming =>
  condition.kind !== 'composite' && condition.query.kind === 'slo' ? sloDueTiming : { batchMs };

/** Time budget of a run. */
const budgetMs = 60_000;
/**
 * Rules whose queries have not returned by then are not evaluated. Their due time is skipped, they are stale, and they are queried
 * first next time.
 */
const queryTimeoutMs = 50_000;

const disabledResult: RuleQueryResult = { kind: 'over', reason: 'the rule was disabled' };
const deletedResult: RuleQueryResult = { kind: 'over', reason: 'the rule was deleted' };

/** State saved for a rule. With active alerts it includes the rule, so that they can end after the rule is deleted. */
interface SavedRuleState extends RuleState {
  readonly rule?: StoredAlertRule & StoredMetadata;
  /** Whether the query has had data since it was last changed */
  readonly data?: DataState | undefined;
}

const createState = (): SavedRuleState => ({ ...emptyState(), data: 'no' });

const emits = {
  transitions: topics.alertTransitions,
  evaluations: topics.alertEvaluations,
  events: topics.events,
  samples: recordedSamples,
};

type EvaluationContext = Pick<
  Parameters<typeof toEvaluationRecords>[1],
  'tenantId' | 'rule' | 'nowMs' | 'durationMs'
> & {
  readonly prior: SavedRuleState;
  readonly plan: TenantReader['plan'];
};

/** Emits the results of an evaluation. */
const emitEvaluation = (
  emit: Run<SavedRuleState, typeof emits>['emit'],
  evaluation: Evaluation,
  context: EvaluationContext,
): void => {
  for (const transition of evaluation.transitions) {
    emit.transitions(transition);
    const event = toPlatformEvent(transition);
    if (event !== undefined) emit.events(event);
  }
  for (const records of toEvaluationRecords(evaluation, { ...context, lateMs: Date.now() - context.nowMs }))
    emit.evaluations(records);
  const { tenantId, rule, nowMs, prior, plan } = context;
  if (!plan.entitlements.includes('metrics')) return;
  const previousRule = prior.rule?.version === rule.version ? rule : prior.rule && parseStoredRule(prior.rule);
  const series = createAlertSeries(
    previousRule && { rule: previousRule, state: prior },
    { rule, state: evaluation.state },
    nowMs,
  );
  const sampleOrigin = { tenantId, projectId: rule.projectId ?? '', atMs: nowMs - parseDurationMs(rule.delay) };
  for (const samples of splitSamples(sampleOrigin, series)) emit.samples(samples);
};

interface DataContext extends Pick<Run<SavedRuleState, typeof emits>, 'tenantId' | 'dueMs' | 'emit' | 'ports'> {
  readonly document: StoredAlertRule & StoredMetadata;
  readonly rule: AlertRule;
  readonly prior: SavedRuleState;
}

/** Returns whether the rule has had data after an evaluation, and reports it if not. An SLO or check reports its own. */
const trackData = async (
  queryResult: RuleQueryResult,
  form: string,
  { document, rule, prior, tenantId, dueMs, emit, ports }: DataContext,
): Promise<DataState | undefined> => {
  if (document.managedBy) return undefined;
  const isOtherQuery = prior.form !== '' && prior.form !== form;
  const before = isOtherQuery || queryResult.kind === 'over' ? 'no' : prior.data;
  const after = advanceDataState(before, findHasData(rule, queryResult), isDataOverdue(document.updatedAt, dueMs));
  await storeDataState(ports.documents.forTenant(tenantId), ['alert-rule', rule.id], { before: prior.data, after });
  if (after === 'reported' && before === 'no')
    emit.events(createRuleNoDataEvent(rule, { tenantId, atMs: dueMs, form }));
  return after;
};

/**
 * Schedule with one unit of work per alert rule. The query reads up to the due time, whenever it runs, so a missed due
 * time is evaluated as if it had run on time. Ids of emitted transitions derive from rule, group and due time.
 */
export const alertEvaluation = defineSchedule({
  name: 'alert-evaluation',
  summary: 'Evaluates alert rules.',
  collection: alertRules,
  everyMs: (document) => {
    const rule = parseRule(document);
    // Disabled rules are still evaluated occasionally, so that their alerts end.
    return rule.enabled ? parseDurationMs(rule.interval) : Math.min(60_000, parseDurationMs(rule.interval));
  },
  listDueTimes: (document) => getDueTiming(parseRule(document)),
  missed: { catchUp: 10 },
  state: { version: 1, schema: z.custom<SavedRuleState>(), empty: createState },
  emits,
  // Their queries wait in a queue (`rule-batchers.ts`).
  concurrency: { total: 4000, perTenant: 2000 },
  budgetMs,
  async run(document, run) {
    const { tenantId, dueMs, emit, signal, ports } = run;
    const rule = parseRule(document);
    const isSettled = Object.keys(run.state.alerts).length === 0 && run.state.data !== 'reported';
    if (!rule.enabled && isSettled) return run.state;
    const reader = await openTenantReader(ports, tenantId, Math.max(dueMs, Date.now()));
    if (reader === undefined) return run.state;
    const started = performance.now();
    const queryBatcher = getRuleBatcher(ports.columns, tenantId);
    const options = { nowMs: dueMs, signal, batcher: queryBatcher, timeoutMs: queryTimeoutMs };
    const queryResult = rule.enabled ? await queryRule(rule, reader, options) : disabledResult;
    if (run.canWait && queryResult.kind === 'error' && queryResult.isAway === true)
      throw new UnavailableError(queryResult.message);
    const prior = run.state;
    const evaluation = await renderWithQueries(
      (queryResults) => evaluate({ tenantId, rule, prior, result: queryResult, nowMs: dueMs, queryResults }),
      createTemplateQuery(reader, { signal, batcher: queryBatcher }),
    );
    const { plan } = reader;
    emitEvaluation(emit, evaluation, {
      tenantId,
      rule,
      prior,
      plan,
      nowMs: dueMs,
      durationMs: performance.now() - started,
    });
    const { form } = evaluation.state;
    const data = await trackData(queryResult, form, { document, rule, prior, tenantId, dueMs, emit, ports });
    const next = { ...evaluation.state, ...(data !== undefined && { data }) };
    return Object.keys(next.alerts).length === 0 ? next : { ...next, rule: document };
  },
  async removed({ tenantId, state: prior, nowMs, emit, ports }) {
    const rule = prior.rule && parseStoredRule(prior.rule);
    const reader = await openTenantReader(ports, tenantId, nowMs);
    if (rule === undefined || reader === undefined) return;
    const evaluation = await renderWithQueries(
      (queryResults) => evaluate({ tenantId, rule, prior, result: deletedResult, nowMs, queryResults }),
      createTemplateQuery(reader, { batcher: getRuleBatcher(ports.columns, tenantId) }),
    );
    emitEvaluation(emit, evaluation, { tenantId, rule, prior, plan: reader.plan, nowMs, durationMs: 0 });
  },
});
