/** Reads all data for the analysis of a symptom's causes. */

import { requireReadAccess } from '../../queries/entitlement.ts';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { RunPartQuery } from '../../queries/query-kind.ts';
import { getRetentionDays, type Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { createNode } from '../services/edges.ts';
import { findDegradationStart } from './degradations.ts';
import { getNodeDisplayName, type IncidentContext, minuteMs } from './incident-context.ts';
import { readCalls, readServicesOfHosts } from './read-calls.ts';
import { readChanges } from './read-changes.ts';
import { readGauges } from './read-gauges.ts';
import { readNovelties } from './read-novelties.ts';
import type { SymptomSource } from './source-changes.ts';
import { findLargestIncrease, readSample } from './wide-range.ts';

/** An observed symptom, with location and time. */
export interface Symptom {
  readonly services: readonly string[];
  /** Hosts of the symptom, if no service is named. */
  readonly hosts: readonly string[];
  /** Source of the observation. */
  readonly shownBy: readonly SymptomSource[];
  /** Time of detection. For a range in which the symptom began at an unknown time, the start of the range. */
  readonly noticedMs: number;
  readonly isRange: boolean;
  /** End of the analyzed range. */
  readonly untilMs: number;
}

const historyMs = 95 * minuteMs;
const maxAfterMs = 45 * minuteMs;
/** Maximum range that is read by the minute; a longer one is sampled, and the part with the clearest increase is read. */
const maxRangeMs = 12 * 60 * minuteMs;
const dayMs = 86_400_000;

const toRange = (fromMs: number, toMs: number): Range => ({
  from: BigInt(fromMs) * 1_000_000n,
  to: BigInt(toMs) * 1_000_000n,
});
const floorToMinute = (ms: number): number => Math.floor(ms / minuteMs) * minuteMs;

/** Returns the whole range, in complete minutes. */
const toCompleteRange = ({ noticedMs, untilMs, isRange }: Symptom, { plan, nowMs }: TenantReader): Range => {
  const retainedFromMs = nowMs - getRetentionDays(plan, 'traces') * dayMs;
  const latestMs = isRange ? untilMs : Math.min(untilMs, noticedMs + maxAfterMs);
  // The current minute counts too, so that a symptom is explained as soon as it has begun.
  const toMs = latestMs >= nowMs ? floorToMinute(nowMs) + minuteMs : floorToMinute(latestMs);
  const earliestMs = Math.max(floorToMinute(noticedMs - historyMs), floorToMinute(retainedFromMs));
  return toRange(Math.min(toMs - minuteMs, earliestMs), toMs);
};

/** Returns the part of the range that is read by the minute. */
const chooseRange = async (
  columns: TenantReader['columns'],
  services: readonly string[],
  whole: Range,
  scope: ProjectScope,
): Promise<Range> => {
  const [fromMs, toMs] = [Number(whole.from / 1_000_000n), Number(whole.to / 1_000_000n)];
  if (toMs - fromMs <= maxRangeMs) return whole;
  const increase = findLargestIncrease(await readSample(columns, services, whole, scope));
  const endMs = Math.max(fromMs + maxRangeMs, Math.min(toMs, (increase?.atMs ?? toMs) + maxRangeMs / 2));
  return toRange(endMs - maxRangeMs, endMs);
};

/** Reads the context of a symptom; undefined if no service is known for it. */
export const readIncidentContext = async (
  reader: TenantReader,
  symptom: Symptom,
  scope: ProjectScope,
  runPart: RunPartQuery,
): Promise<IncidentContext | undefined> => {
  requireReadAccess(reader, 'traces');
  const wholeRange = toCompleteRange(symptom, reader);
  const { columns } = reader;
  const serviceNames =
    symptom.services.length > 0 || symptom.hosts.length === 0
      ? symptom.services
      : await readServicesOfHosts(columns, symptom.hosts, wholeRange);
  const symptoms = [...new Set(serviceNames)].map((service) => createNode('service', service).id);
  if (symptoms.length === 0) return undefined;
  const minutes = await chooseRange(columns, serviceNames, wholeRange, scope);
  const fromMs = Number(minutes.from / 1_000_000n);
  const calls = await readCalls(columns, symptoms, minutes, scope);
  const services = [...calls.nodes.keys()].map(getNodeDisplayName);
  const nodesOnPath = new Set(calls.nodes.keys());
  const hosts = [...new Set([...nodesOnPath].flatMap((node) => [...(calls.hosts.get(node)?.keys() ?? [])]))].filter(
    (host) => host !== '',
  );
  const untilMs = Number(minutes.to / 1_000_000n);
  const [first = ''] = symptoms;
  const detectedMs = symptom.isRange
    ? findDegradationStart(calls.nodes.get(first) ?? [], Math.max(symptom.noticedMs, fromMs), untilMs)
    : Math.min(floorToMinute(symptom.noticedMs), untilMs);
  const [changes, gauges, novelties] = await Promise.all([
    readChanges(reader, services, minutes, scope),
    readGauges(reader, { services, hosts }, minutes, scope, runPart),
    readNovelties(reader, services, toRange(detectedMs - 60 * minuteMs, untilMs)),
  ]);
  const isShortened = minutes.from !== wholeRange.from || minutes.to !== wholeRange.to;
  return {
    symptoms,
    detectedMs,
    untilMs,
    ...(isShortened ? { analyzedFromMs: fromMs } : {}),
    ...calls,
    changes,
    gauges,
    novelties,
  };
};
