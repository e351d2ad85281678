/** Reads all data for the analysis of a symptom's causes. */

import { requireEntitlement } from '../../queries/entitlement.ts';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { RunPart } from '../../queries/query-kind.ts';
import { type Range, retentionDaysOf } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { nodeOf } from '../services/edges.ts';
import { type IncidentContext, minuteMs, nodeName } from './incident-context.ts';
import { readCalls, servicesOfHosts } from './read-calls.ts';
import { readChanges } from './read-changes.ts';
import { readGauges } from './read-gauges.ts';
import { readNews } from './read-news.ts';
import type { ShownBy } from './shown-by.ts';
import { beginIn } from './worsening.ts';

/** An observed symptom, with location and time. */
export interface Symptom {
  readonly services: readonly string[];
  /** Hosts of the symptom, if no service is named. */
  readonly hosts: readonly string[];
  /** Source of the observation. */
  readonly shownBy: readonly ShownBy[];
  /** Time of detection. For a range in which the symptom began at an unknown time, the start of the range. */
  readonly noticedMs: number;
  readonly isRange: boolean;
  /** End of the analyzed range. */
  readonly untilMs: number;
}

const before = 95 * minuteMs;
const maxWindowMs = 45 * minuteMs;
const dayMs = 86_400_000;

const rangeOf = (fromMs: number, toMs: number): Range => ({
  from: BigInt(fromMs) * 1_000_000n,
  to: BigInt(toMs) * 1_000_000n,
});
const floor = (ms: number): number => Math.floor(ms / minuteMs) * minuteMs;

/** Range of the minutes to read: complete ones, up to the last that is over. */
const minutesOf = ({ noticedMs, untilMs, isRange }: Symptom, { plan, nowMs }: Reading): Range => {
  const retainedFromMs = nowMs - retentionDaysOf(plan, 'traces') * dayMs;
  const latestMs = isRange ? untilMs : Math.min(untilMs, noticedMs + maxWindowMs);
  const toMs = floor(Math.min(latestMs, nowMs));
  return rangeOf(Math.min(toMs - minuteMs, Math.max(floor(noticedMs - before), floor(retainedFromMs))), toMs);
};

/** Reads the context of a symptom; undefined if no data shows it. */
export const readIncidentContext = async (
  reading: Reading,
  symptom: Symptom,
  scope: ProjectScope,
  runPart: RunPart,
): Promise<IncidentContext | undefined> => {
  requireEntitlement(reading, 'traces');
  const minutes = minutesOf(symptom, reading);
  const { columns } = reading;
  const named =
    symptom.services.length > 0 || symptom.hosts.length === 0
      ? symptom.services
      : await servicesOfHosts(columns, symptom.hosts, minutes);
  const symptoms = [...new Set(named)].map((service) => nodeOf('service', service).id);
  if (symptoms.length === 0) return undefined;
  const calls = await readCalls(columns, symptoms, minutes, scope);
  const services = [...calls.nodes.keys()].map(nodeName);
  const onPath = new Set(calls.nodes.keys());
  const hosts = [...new Set([...onPath].flatMap((node) => [...(calls.hosts.get(node)?.keys() ?? [])]))].filter(
    (host) => host !== '',
  );
  const untilMs = Number(minutes.to / 1_000_000n);
  const [first = ''] = symptoms;
  const noticedMs = symptom.isRange
    ? beginIn(calls.nodes.get(first) ?? [], symptom.noticedMs, untilMs)
    : Math.min(floor(symptom.noticedMs), untilMs);
  const [changes, gauges, novelties] = await Promise.all([
    readChanges(reading, services, minutes, scope),
    readGauges(reading, { services, hosts }, minutes, scope, runPart),
    readNews(reading, services, rangeOf(noticedMs - 60 * minuteMs, untilMs)),
  ]);
  return { symptoms, noticedMs, untilMs, ...calls, changes, gauges, novelties };
};
