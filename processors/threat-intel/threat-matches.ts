import { hashOf } from '../../queries/sigma/detect.ts';
import { EventPaths, SigmaEvent } from '../../queries/sigma/event.ts';
import { type EntityType, entityFields } from '../../queries/sigma/fields/entities.ts';
import { fieldTables } from '../../queries/sigma/fields/index.ts';
import { foldName } from '../../queries/sigma/fields/table.ts';
import { fillEvent, recordIdOf, valuesOfRecord } from '../../queries/sigma/record-event.ts';
import { scoreAt } from '../../queries/threat-intel/indicator.ts';
import { matchEvent, type Sighting } from '../../queries/threat-intel/match.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { indicatorBlocks } from '../../schemas/resources/threat-intel.ts';
import type { DetectionSignal, SignalSeverity } from '../../schemas/signals.ts';
import { ThreatMatch } from '../../schemas/threat-matches.ts';
import { topics } from '../../schemas/topics.ts';
import { type Context, defineProcessor } from '../engine/definition.ts';
import { keyedState } from '../engine/state.ts';
import { indicatorsIn } from './indicators.ts';

/** How long matches of an indicator and an entity are one. */
const togetherMs = 3_600_000;
/** Matches that are open at a time, in a partition of a tenant; the one that was used longest ago makes way. */
const mostOpen = 20_000;
const mostObserved = 512;

const emits = { matches: topics.threatMatches, signals: topics.signals };
const follows = { blocks: indicatorBlocks };
const state = keyedState({ version: 1, maxEntries: mostOpen, schema: ThreatMatch });
type MatchContext = Context<typeof emits, typeof follows, ReturnType<typeof state.open>>;

const paths = new EventPaths(fieldTables);
const namesOf = (type: EntityType): string[] => entityFields[type].flat().map(foldName);
const hostNames = namesOf('host');
const userNames = namesOf('user');

const firstOf = (event: SigmaEvent, names: readonly string[]): string => {
  for (const name of names) {
    const text = event.get(name)?.text ?? '';
    if (text !== '' && text !== '-') return text.slice(0, mostObserved);
  }
  return '';
};

const severities: readonly (readonly [least: number, severity: SignalSeverity])[] = [
  [90, 'critical'],
  [70, 'high'],
  [40, 'medium'],
  [0, 'low'],
];

/** A signal of a match, as severe as the indicator is believed. */
const signalOf = (match: ThreatMatch): DetectionSignal => {
  const { tenantId, projectId, id, type, value, source, score, field, observed, recordId, timeMs, service } = match;
  const ruleId = 'threat-intel';
  const reason = { field: type, path: field, value: observed, selection: 'indicator', because: `${value} (${source})` };
  const entities = [
    { type: 'host' as const, value: match.host },
    { type: 'user' as const, value: match.user },
    ...(type === 'ip' || type === 'network' ? [{ type: 'address' as const, value: observed }] : []),
  ];
  return {
    ...{ tenantId, projectId, id: hashOf(ruleId, id), kind: 'rule', ruleId, ruleVersion: 1 },
    ...{ ruleTitle: `Threat indicator of ${source}: ${value}`.slice(0, 512), riskScore: score, timeMs },
    severity: severities.find(([least]) => score >= least)?.[1] ?? 'low',
    events: [{ recordId, timeMs, service, ruleId, fields: [reason] }],
    eventCount: 1,
    entities: entities.filter((entity) => entity.value !== ''),
    ...{ tactics: [], techniques: [], group: {}, suppressedBy: '' },
  };
};

const isPowerOfTwo = (count: number): boolean => (count & (count - 1)) === 0;

/** The first match of an indicator and an entity is told at once; those after it are counted, and told as they double and in the end. */
const take = (
  { indicator, field, observed }: Sighting,
  { record, event, score }: { readonly record: LogRecord; readonly event: SigmaEvent; readonly score: number },
  context: MatchContext,
): void => {
  const { type, value, source } = indicator;
  const { tenantId, projectId, timeMs, service } = record;
  const host = firstOf(event, hostNames);
  const user = firstOf(event, userNames);
  const key = JSON.stringify([type, value, source, projectId, service, host, user]);
  const known = context.state.get(key);
  if (known !== undefined) {
    const counted = { ...known, count: known.count + 1, lastMs: Math.max(known.lastMs, timeMs) };
    context.state.set(key, counted);
    if (isPowerOfTwo(counted.count)) context.emit.matches(counted);
    return;
  }
  const recordId = recordIdOf(record);
  const match: ThreatMatch = {
    ...{ tenantId, projectId, id: hashOf('threat-match', key, recordId), type, value, source, score, field },
    ...{ observed: observed.slice(0, mostObserved), recordId, timeMs, lastMs: timeMs, count: 1, service, host, user },
  };
  context.state.set(key, match);
  context.setTimer('clock', context.clockMs + togetherMs, key);
  context.emit.matches(match);
  if (indicator.raisesSignals) context.emit.signals(signalOf(match));
};

/** Holds each log record against the threat indicators of its organization. */
export const threatMatches = defineProcessor({
  name: 'threat-matches',
  summary: 'Finds threat indicators in log records.',
  reads: logRecords,
  emits,
  follows,
  entitlement: 'siem',
  state,

  step(record, context) {
    const { blocks } = context.follows;
    if (blocks.size === 0) return;
    const index = indicatorsIn(blocks);
    const event = fillEvent(new SigmaEvent(paths), valuesOfRecord(record));
    const sightings = matchEvent(index, event);
    if (sightings.length === 0) return;
    const atMs = record.timeMs;
    for (const sighting of sightings) {
      const score = scoreAt(sighting.indicator, atMs);
      if (score > 0) take(sighting, { record, event, score }, context);
    }
  },

  timer({ key }, context) {
    const known = context.state.get(key);
    context.state.delete(key);
    if (known !== undefined && !isPowerOfTwo(known.count)) context.emit.matches(known);
  },
});
