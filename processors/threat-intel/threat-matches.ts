import { computeHashId } from '../../runtime/hash-id.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { indicatorBlocks } from '../../schemas/resources/threat-intel.ts';
import type { DetectionSignal, SignalSeverity } from '../../schemas/signals.ts';
import { ThreatMatch } from '../../schemas/threat-matches.ts';
import { topics } from '../../schemas/topics.ts';
import type { SigmaEvent } from '../../subjects/detections/event.ts';
import { getRecordValues } from '../../subjects/detections/record-event.ts';
import { addRecord, createMatch, groupingWindowMs, toEvent } from '../../subjects/threat-intel/create-match.ts';
import { computeScore } from '../../subjects/threat-intel/indicator.ts';
import { matchEvent, type Sighting } from '../../subjects/threat-intel/match.ts';
import { type Context, defineProcessor } from '../engine/definition.ts';
import { keyedState } from '../engine/state.ts';
import { getIndex } from './indicators.ts';

/** Maximum number of open matches per partition and tenant. The least recently used match is evicted. */
const maxOpenMatches = 20_000;

const emits = { matches: topics.threatMatches, signals: topics.signals };
const follows = { blocks: indicatorBlocks };
const state = keyedState({ version: 1, maxEntries: maxOpenMatches, schema: ThreatMatch });
type MatchContext = Context<typeof emits, typeof follows, ReturnType<typeof state.open>>;

const severities: readonly (readonly [least: number, severity: SignalSeverity])[] = [
  [90, 'critical'],
  [70, 'high'],
  [40, 'medium'],
  [0, 'low'],
];

/** Builds the signal of a match, with a severity by the confidence of the indicator. */
const toSignal = (match: ThreatMatch): DetectionSignal => {
  const { tenantId, projectId, id, type, value, source, score, field, observed, recordId, timeMs, service } = match;
  const ruleId = 'threat-intel';
  const reason = {
    field: type,
    path: field,
    value: observed,
    selection: 'indicator',
    because: `${value} (${source})`,
  };
  const entities = [
    { type: 'host' as const, value: match.host },
    { type: 'user' as const, value: match.user },
    ...(type === 'ip' || type === 'network' ? [{ type: 'address' as const, value: observed }] : []),
  ];
  return {
    tenantId,
    projectId,
    id: computeHashId(ruleId, id),
    kind: 'rule',
    ruleId,
    ruleVersion: 1,
    ruleTitle: `Threat indicator of ${source}: ${value}`.slice(0, 512),
    riskScore: score,
    timeMs,
    severity: severities.find(([minScore]) => score >= minScore)?.[1] ?? 'low',
    events: [{ recordId, timeMs, service, ruleId, fields: [reason] }],
    eventCount: 1,
    entities: entities.filter((entity) => entity.value !== ''),
    tactics: [],
    techniques: [],
    group: {},
    suppressedBy: '',
  };
};

const isPowerOfTwo = (count: number): boolean => (count & (count - 1)) === 0;

/** Emits the total count, unless it was already emitted. */
const emitFinalCount = (match: ThreatMatch, { emit }: MatchContext): void => {
  if (!isPowerOfTwo(match.count)) emit.matches(match);
};

/**
 * Emits the first match of an indicator and an entity at once. Later ones are counted; the count is emitted whenever
 * it doubles, and at the end.
 */
const handleSighting = (
  sighting: Sighting,
  { record, event, score }: { readonly record: LogRecord; readonly event: SigmaEvent; readonly score: number },
  context: MatchContext,
): void => {
  const { tenantId, projectId, timeMs, service, recordId } = record;
  const { key, match } = createMatch(sighting, { tenantId, projectId, timeMs, service, recordId }, event, score);
  const openMatch = context.state.get(key);
  if (openMatch !== undefined && timeMs < openMatch.timeMs + groupingWindowMs) {
    const countedMatch = addRecord(openMatch, timeMs);
    context.state.set(key, countedMatch);
    if (isPowerOfTwo(countedMatch.count)) context.emit.matches(countedMatch);
    return;
  }
  if (openMatch !== undefined) emitFinalCount(openMatch, context);
  context.state.set(key, match);
  context.setTimer('clock', context.clockMs + groupingWindowMs, key);
  context.emit.matches(match);
  if (sighting.indicator.raisesSignals) context.emit.signals(toSignal(match));
};

/** Matches each log record against the threat indicators of its organization. */
export const threatMatches = defineProcessor({
  name: 'threat-matches',
  summary: 'Matches log records against threat indicators.',
  reads: logRecords,
  emits,
  follows,
  entitlement: 'siem',
  state,

  step(record, context) {
    const { blocks } = context.follows;
    if (blocks.size === 0) return;
    const index = getIndex(blocks);
    const event = toEvent(getRecordValues(record));
    const sightings = matchEvent(index, event);
    if (sightings.length === 0) return;
    const atMs = record.timeMs;
    for (const sighting of sightings) {
      const score = computeScore(sighting.indicator, atMs);
      if (score > 0) handleSighting(sighting, { record, event, score }, context);
    }
  },

  timer({ key }, context) {
    const openMatch = context.state.get(key);
    context.state.delete(key);
    if (openMatch !== undefined) emitFinalCount(openMatch, context);
  },
});
