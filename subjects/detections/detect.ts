/** Evaluates one record: returns security signals, and matches for correlations over several records. */
import { computeHashId } from '../../runtime/hash-id.ts';
import type { DetectionMatch, DetectionSignal, SignalEvent } from '../../schemas/signals.ts';
import { parseAttackTags } from '../attack/matrix.ts';
import {
  type DeployedCorrelation,
  type Deployment,
  getDocumentNames,
  type StoredRule,
  toExceptionKey,
} from './deployment.ts';
import type { SigmaRule } from './documents.ts';
import type { SigmaEvent } from './event.ts';
import { entityFields, entityTypes } from './fields/entities.ts';
import { foldName, listFieldNames } from './fields/table.ts';
import { fillEvent, type RecordValues } from './record-event.ts';
import type { EvaluationObserver, Match, PrefilterResult } from './rule-set.ts';

/** A record, either streamed or stored */
export interface DetectedRecord {
  readonly tenantId: string;
  readonly projectId: string;
  readonly recordId: string;
  readonly timeMs: number;
  readonly service: string;
  readonly values: RecordValues;
}

export interface DetectionResult {
  readonly signals: readonly DetectionSignal[];
  /** Matches for rules with suppression and for correlations of rules */
  readonly matches: readonly DetectionMatch[];
  /** Matches for correlations that reference correlations */
  readonly chained: readonly DetectionMatch[];
}

const noDetections: DetectionResult = { signals: [], matches: [], chained: [] };
const maxEntities = 20;

const entityNames = entityTypes.map((type) => ({
  type,
  lists: entityFields[type].map((names) => names.map(foldName)),
}));

const extractEntities = ({ set }: Deployment, event: SigmaEvent): DetectionSignal['entities'] => {
  const entities = entityNames.flatMap(({ type, lists }) =>
    lists.flatMap((names) => {
      const value = set.getValue(event, names);
      return value === undefined || value === '' || value === '-' ? [] : [{ type, value: value.slice(0, 512) }];
    }),
  );
  return deduplicateEntities(entities).slice(0, maxEntities);
};

/** Returns the entities without duplicates. */
export const deduplicateEntities = (entities: DetectionSignal['entities']): DetectionSignal['entities'] => [
  ...new Map(entities.map((entity) => [`${entity.type}\n${entity.value}`, entity])).values(),
];

/** Merges a signal with one that its rule suppresses. The result contains the first and the last record. */
export const mergeSuppressedSignal = (first: DetectionSignal, suppressed: DetectionSignal): DetectionSignal => ({
  ...first,
  events: [...first.events.slice(0, 1), ...suppressed.events],
  eventCount: first.eventCount + 1,
  entities: deduplicateEntities([...first.entities, ...suppressed.entities]).slice(0, maxEntities),
});

/**
 * Returns whether a signal that suppresses others is emitted again immediately, before its suppression window ends. This
 * happens each time its count doubles.
 */
export const isReportedAgain = ({ eventCount }: DetectionSignal): boolean => Number.isInteger(Math.log2(eventCount));

/** Returns the fields of a signal that depend on the rule alone. */
export const toSignalRuleFields = (
  { id, version, severity, riskScore, title }: StoredRule,
  tags: readonly string[],
) => ({
  ruleId: id,
  ruleVersion: version,
  ruleTitle: title,
  severity,
  riskScore,
  ...parseAttackTags(tags),
});

/**
 * Returns one field of the event by which a correlation groups or measures. The correlation may use an alias for the
 * field.
 */
const readField = (
  { set, tables }: Deployment,
  event: SigmaEvent,
  rule: SigmaRule,
  field: string,
): string | undefined => set.getValue(event, listFieldNames(field, rule.logsource, tables));

const createMatch = (
  deployment: Deployment,
  { id, document }: DeployedCorrelation,
  event: SigmaEvent,
  { rule }: Match,
  signal: DetectionSignal,
): DetectionMatch | undefined => {
  const names = getDocumentNames(signal.ruleId, rule);
  const resolveAlias = (field: string): string => {
    const fields = document.aliases.get(field);
    return names.map((name) => fields?.get(name)).find((each) => each !== undefined) ?? field;
  };
  const key = document.groupBy.map((field) => readField(deployment, event, rule, resolveAlias(field)));
  // An event that lacks a group-by field belongs to no group.
  if (key.some((value) => value === undefined)) return undefined;
  const values = document.fields.map((field) => readField(deployment, event, rule, resolveAlias(field)) ?? null);
  return { tenantId: signal.tenantId, forRule: id, key: key as string[], names, values, signal };
};

/** A matched field as messages name it. */
const toSignalField = ({ condition, ...field }: Match['fields'][number]): SignalEvent['fields'][number] => ({
  ...field,
  because: condition,
});

const createSignal = (
  deployment: Deployment,
  stored: StoredRule,
  { rule, fields, ruleId }: Match,
  record: DetectedRecord,
  event: SigmaEvent,
): DetectionSignal => {
  const { tenantId, projectId, recordId, timeMs, service } = record;
  const signalEvent: SignalEvent = { recordId, timeMs, service, ruleId, fields: fields.map(toSignalField) };
  return {
    tenantId,
    projectId,
    id: computeHashId(ruleId, recordId),
    kind: 'rule',
    ...toSignalRuleFields(stored, rule.tags),
    timeMs,
    events: [signalEvent],
    eventCount: 1,
    entities: extractEntities(deployment, event),
    group: {},
    suppressedBy: '',
  };
};

/** Returns the exception that covers a match, among those that have not expired. */
const findException = ({ exceptions, id }: StoredRule, matches: readonly Match[], nowMs: number): string =>
  exceptions.find(
    (each) =>
      (each.expiresAt === null || Date.parse(each.expiresAt) > nowMs) &&
      matches.some(({ ruleId }) => ruleId === toExceptionKey(id, each.id)),
  )?.id ?? '';

type MutableResult = { readonly [Part in keyof DetectionResult]: DetectionResult[Part][number][] };

/** Passes a signal to the correlations that reference its rule. */
const correlate = (
  deployment: Deployment,
  event: SigmaEvent,
  match: Match,
  signal: DetectionSignal,
  result: MutableResult,
): void => {
  const correlations = getDocumentNames(signal.ruleId, match.rule).flatMap((name) => deployment.byRule.get(name) ?? []);
  for (const correlation of new Set(correlations)) {
    const correlationMatch = createMatch(deployment, correlation, event, match, signal);
    if (correlationMatch !== undefined)
      (correlation.isChained ? result.chained : result.matches).push(correlationMatch);
  }
};

/** Returns a signal of a rule that suppresses repeated signals for a period. */
const toSuppressionMatch = (
  deployment: Deployment,
  event: SigmaEvent,
  { rule }: Match,
  signal: DetectionSignal,
  { by }: NonNullable<StoredRule['suppression']>,
): DetectionMatch => {
  const key = by.map((field) => readField(deployment, event, rule, field) ?? '');
  const group = Object.fromEntries(by.map((field, at) => [field, key[at] ?? '']));
  const { tenantId, ruleId } = signal;
  return { tenantId, forRule: ruleId, key, names: [], values: [], signal: { ...signal, group } };
};

/** Evaluates one record. Exceptions that expired by `nowMs` are ignored. */
export const detect = (
  deployment: Deployment,
  record: DetectedRecord,
  nowMs: number,
  observer?: EvaluationObserver,
  prefilterResult?: PrefilterResult,
): DetectionResult => {
  const { set, stored, silent } = deployment;
  const event = fillEvent(set.newEvent(), record.values);
  const matches = set.match(event, observer, prefilterResult);
  if (matches.length === 0) return noDetections;
  const result: MutableResult = { signals: [], matches: [], chained: [] };
  for (const match of matches) {
    const rule = stored.get(match.ruleId);
    // Exceptions are part of the set, but are evaluated with the rules to which they belong.
    if (rule === undefined) continue;
    const suppressedBy = findException(rule, matches, nowMs);
    const signal = { ...createSignal(deployment, rule, match, record, event), suppressedBy };
    if (suppressedBy === '') correlate(deployment, event, match, signal, result);
    if (getDocumentNames(rule.id, match.rule).some((name) => silent.has(name))) continue;
    if (rule.suppression === null || suppressedBy !== '') result.signals.push(signal);
    else result.matches.push(toSuppressionMatch(deployment, event, match, signal, rule.suppression));
  }
  return result;
};

/**
 * Returns the match of a correlation's signal for the correlations that reference it, and whether only those receive
 * it.
 */
export const createChainedMatches = (
  { byRule, silent, correlations }: Deployment,
  signal: DetectionSignal,
): { readonly matches: readonly DetectionMatch[]; readonly isSilent: boolean } => {
  const sourceCorrelation = correlations.find(({ id }) => id === signal.ruleId);
  const names =
    sourceCorrelation === undefined
      ? [signal.ruleId]
      : getDocumentNames(sourceCorrelation.id, sourceCorrelation.document);
  const referencingCorrelations = new Set(names.flatMap((name) => byRule.get(name) ?? []));
  const matches = [...referencingCorrelations].flatMap(({ id, document }): DetectionMatch[] => {
    const getGroupValue = (field: string): string | undefined => {
      const fields = document.aliases.get(field);
      return signal.group[names.map((name) => fields?.get(name)).find((each) => each !== undefined) ?? field];
    };
    const key = document.groupBy.map(getGroupValue);
    if (key.some((value) => value === undefined)) return [];
    const values = document.fields.map((field) => getGroupValue(field) ?? null);
    return [{ tenantId: signal.tenantId, forRule: id, key: key as string[], names, values, signal }];
  });
  return { matches, isSilent: names.some((name) => silent.has(name)) };
};
