/**
 * Judges possible causes of a symptom, with evidence for and against each. A cause must be on the symptom's path and
 * not begin after it, and it is tested by the minutes before and after. Candidates that cannot be tested are not
 * claimed.
 */
import { attributeSymptom, type BlamedNode } from './blame.ts';
import {
  type Change,
  type Gauge,
  type IncidentContext,
  type MinuteActivity,
  minuteMs,
  type Novelty,
  nodeDisplayName,
} from './incident-context.ts';
import { computeExcess, findDegradations, onsetOfIncrease, selectMinutes, type Worsening } from './worsening.ts';

export const causeKinds = [
  ...(['deployment', 'configuration', 'restart', 'oom-kill', 'saturation', 'neighbour', 'callee'] as const),
  ...(['error', 'log-pattern'] as const),
] as const;
export type CauseKind = (typeof causeKinds)[number];

export interface JudgedCause {
  readonly kind: CauseKind;
  /** Subject of the cause: a service, a database, a host. */
  readonly at: string;
  readonly beginMs: number;
  readonly title: string;
  readonly link: string;
  /** Score from 0 to 1. */
  readonly score: number;
  readonly evidence: readonly string[];
  readonly counterEvidence: readonly string[];
  readonly path: readonly string[];
}

export interface Causes {
  readonly onsetMs: number;
  readonly symptom: readonly string[];
  /** Claimed causes, most likely first. */
  readonly causes: readonly JudgedCause[];
  /** Analyzed candidates that are not claimed. */
  readonly others: readonly JudgedCause[];
  /** Reason why no cause is claimed; null if there is one. */
  readonly reason: string | null;
}

/** Prior probability of each kind of cause, all else being equal. */
const priors: Readonly<Record<CauseKind, number>> = {
  deployment: 1,
  configuration: 1,
  'oom-kill': 0.95,
  saturation: 0.85,
  neighbour: 0.85,
  restart: 0.7,
  callee: 0.5,
  error: 0.6,
  'log-pattern': 0.6,
};
/** Minimum score of a claimed cause. */
export const minScore = 0.3;
/** Maximum number of minutes by which the measured start of a cause may follow the symptom. */
const maxDelayMinutes = 2;
const maxLeadMinutes = 60;
/** Minutes between a change and the symptom that suffice to see the effect of the change alone. */
const decisiveGap = 5;
const saturation = { share: 0.9, rise: 0.1 };
const maxOthers = 20;

const minutesText = (ms: number): string => `${Math.round(ms / minuteMs)} minutes`;
const percent = (share: number): string => `${Number((100 * share).toPrecision(2))} %`;
const words = { errors: 'errors', latency: 'latency', tail: 'slow requests' } as const;

export const describeWorsening = (worse: readonly Worsening[]): string =>
  worse
    .map(({ aspect, compared: { before, after } }) =>
      aspect === 'latency' ? 'requests take longer' : `${words[aspect]} ${percent(before)} → ${percent(after)}`,
    )
    .join(', ');

/** Intermediate judgement of a candidate */
interface WeightedEvidence {
  readonly weight: number;
  readonly evidence: string[];
  readonly counterEvidence: string[];
}

/** Judges a candidate by its start: shortly before the symptom is likely, after it impossible. */
const judgeTime = (beginMs: number, { onsetMs, earliestMs, latestMs }: BlamedNode): WeightedEvidence => {
  const gap = (Math.max(beginMs, earliestMs) - beginMs) / minuteMs;
  if (beginMs > latestMs + maxDelayMinutes * minuteMs)
    return {
      weight: 0,
      evidence: [],
      counterEvidence: [`it began ${minutesText(beginMs - onsetMs)} after the symptom`],
    };
  if (gap > maxLeadMinutes)
    return {
      weight: 0,
      evidence: [],
      counterEvidence: [`it began ${minutesText(onsetMs - beginMs)} before the symptom`],
    };
  const weight = Math.exp(-Math.max(0, gap - 3) / 15);
  const when = gap < 1 ? 'as the symptom did' : `${minutesText(onsetMs - beginMs)} before the symptom`;
  return gap > decisiveGap
    ? { weight, evidence: [], counterEvidence: [`it began ${when}`] }
    : { weight, evidence: [`it began ${when}`], counterEvidence: [] };
};

const judgeLocation = ({ node, own, reaching, path }: BlamedNode): WeightedEvidence => {
  const evidence =
    path.length === 1
      ? [`${nodeDisplayName(node)} has the symptom itself`]
      : [
          `the calls ${path.map(nodeDisplayName).join(' → ')} became worse, which explains ${percent(reaching)} of the symptom`,
        ];
  const counterEvidence =
    own < 0.5 * reaching ? [`${percent(1 - own / reaching)} of the symptom comes from its dependencies`] : [];
  return { weight: own, evidence, counterEvidence };
};

/** Judges whether requests of the node degraded with the candidate, and not only with the symptom. */
const judgeEffect = (
  atMs: number,
  { node, onsetMs, earliestMs, degradations }: BlamedNode,
  { nodes, untilMs }: IncidentContext,
): WeightedEvidence => {
  const minutes = nodes.get(node) ?? [];
  const since = findDegradations(minutes, Math.min(atMs, onsetMs), { untilMs });
  if (since === undefined)
    return {
      weight: 0,
      evidence: [],
      counterEvidence: [`too few requests of ${nodeDisplayName(node)} to compare before and after`],
    };
  if (since.length === 0)
    return { weight: 0, evidence: [], counterEvidence: ['requests are no worse after it than before'] };
  const evidence = [`${nodeDisplayName(node)} after it: ${describeWorsening(since)}`];
  if (earliestMs - atMs <= decisiveGap * minuteMs) return { weight: 1, evidence, counterEvidence: [] };
  const alone = findDegradations(minutes, atMs, { untilMs: earliestMs });
  const isAlone = alone?.some(({ aspect }) => degradations.some((each) => each.aspect === aspect));
  return isAlone
    ? { weight: 1, evidence, counterEvidence: [] }
    : { weight: 0.1, evidence: [], counterEvidence: [`nothing changed for ${minutesText(onsetMs - atMs)} after it`] };
};

type CauseFields = Pick<JudgedCause, 'kind' | 'at' | 'beginMs' | 'title' | 'link'>;

const combineEvidence = (
  fields: CauseFields,
  path: readonly string[],
  ...all: readonly WeightedEvidence[]
): JudgedCause => ({
  ...fields,
  path,
  score: all.reduce((product, { weight }) => product * weight, priors[fields.kind]),
  evidence: all.flatMap(({ evidence }) => evidence),
  counterEvidence: all.flatMap(({ counterEvidence }) => counterEvidence),
});

const offPath = (fields: CauseFields): JudgedCause =>
  combineEvidence(fields, [], { weight: 0, evidence: [], counterEvidence: ['it is not on the path of the symptom'] });

/** Judges by the share of a node's degradation on one of its hosts. */
const judgeHost = (
  host: string,
  { node, onsetMs, degradations }: BlamedNode,
  { hosts, untilMs }: IncidentContext,
): WeightedEvidence => {
  const own = hosts.get(node);
  const here = own?.get(host);
  if (own === undefined || here === undefined)
    return { weight: 0, evidence: [], counterEvidence: [`${nodeDisplayName(node)} does not run there`] };
  if (own.size === 1)
    return { weight: 1, evidence: [`${nodeDisplayName(node)} runs only on ${host}`], counterEvidence: [] };
  const isOfErrors = degradations.some(({ aspect }) => aspect === 'errors');
  const share = (minutes: readonly MinuteActivity[]): number => {
    const { errors, duration } = computeExcess(minutes, minutes, onsetMs, untilMs);
    return Math.max(0, isOfErrors ? errors : duration);
  };
  const there = share(here);
  const others = [...own].filter(([name]) => name !== host).map(([, minutes]) => share(minutes));
  const highest = Math.max(...others);
  const isHere = there > 2 * highest;
  return isHere
    ? {
        weight: 1,
        evidence: [`requests became worse on ${host}, and less so or not at all on its ${others.length} other hosts`],
        counterEvidence: [],
      }
    : { weight: 0.15, evidence: [], counterEvidence: [`requests became equally worse on hosts other than ${host}`] };
};

const judgeChange = (
  change: Change,
  blamed: ReadonlyMap<string, BlamedNode>,
  context: IncidentContext,
): JudgedCause[] => {
  const { kind, node, host, atMs, title, link } = change;
  const fields = { kind, beginMs: atMs, title, link };
  const places = [...blamed.values()].filter((each) =>
    node === undefined ? context.hosts.get(each.node)?.has(host ?? '') === true : each.node === node,
  );
  if (places.length === 0) return [offPath({ ...fields, at: node ?? host ?? '' })];
  return places.map((place) =>
    combineEvidence(
      { ...fields, at: node ?? host ?? '' },
      place.path,
      judgeLocation(place),
      judgeTime(atMs, place),
      ...(node === undefined && host !== undefined ? [judgeHost(host, place, context)] : []),
      judgeEffect(atMs, place, context),
    ),
  );
};

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** Judges whether a resource was exhausted at the time of the symptom. */
const judgeSaturation = ({ values }: Gauge, onsetMs: number, beginMs: number, untilMs: number): WeightedEvidence => {
  const before = values
    .filter(([at]) => at < beginMs && at >= beginMs - maxLeadMinutes * minuteMs)
    .map(([, share]) => share);
  const after = values.filter(([at]) => at >= Math.max(beginMs, onsetMs) && at < untilMs).map(([, share]) => share);
  if (before.length < 3 || after.length === 0)
    return { weight: 0, evidence: [], counterEvidence: ['there is too little data before and after it'] };
  const [was, is] = [mean(before), mean(after)];
  if (is < saturation.share) return { weight: 0, evidence: [], counterEvidence: [`it is ${percent(is)} full`] };
  if (is - was < saturation.rise)
    return { weight: 0, evidence: [], counterEvidence: [`it was ${percent(was)} full before the symptom, too`] };
  return { weight: 1, evidence: [`${percent(was)} full before, ${percent(is)} since`], counterEvidence: [] };
};

const judgeGauge = (gauge: Gauge, blamed: ReadonlyMap<string, BlamedNode>, context: IncidentContext): JudgedCause[] => {
  const { node, host, title, link, values } = gauge;
  const places = [...blamed.values()].filter((each) =>
    node === undefined ? context.hosts.get(each.node)?.has(host ?? '') === true : each.node === node,
  );
  const at = node ?? host ?? '';
  const kind = 'saturation';
  if (places.length === 0)
    return [offPath({ kind, at, beginMs: onsetOfIncrease(values, context.detectedMs), title, link })];
  return places.map((place) => {
    const beginMs = onsetOfIncrease(values, place.onsetMs);
    // A resource may fill up slowly, so an early start is not counted against it if it was not full before.
    return combineEvidence(
      { kind, at, beginMs, title, link },
      place.path,
      judgeLocation(place),
      judgeTime(Math.max(beginMs, place.onsetMs - 3 * minuteMs), place),
      ...(node === undefined && host !== undefined ? [judgeHost(host, place, context)] : []),
      judgeSaturation(gauge, place.onsetMs, beginMs, context.untilMs),
      place.degradations.length === 0
        ? { weight: 0, evidence: [], counterEvidence: [`requests of ${nodeDisplayName(place.node)} are not worse`] }
        : {
            weight: 1,
            evidence: [`${nodeDisplayName(place.node)} since then: ${describeWorsening(place.degradations)}`],
            counterEvidence: [],
          },
    );
  });
};

/**
 * New patterns and errors of a node: before the symptom they may be its cause, at the same time they are part of it.
 */
const judgeNovelty = (
  { kind, node, firstMs, count, title, link }: Novelty,
  blamed: ReadonlyMap<string, BlamedNode>,
): JudgedCause => {
  const fields = { kind, at: node, beginMs: firstMs, title, link };
  const place = blamed.get(node);
  if (place === undefined) return offPath(fields);
  const isBefore = place.onsetMs - firstMs >= minuteMs;
  return combineEvidence(
    fields,
    place.path,
    judgeLocation(place),
    judgeTime(firstMs, place),
    { weight: 1, evidence: [`it never occurred before, and has occurred ${count} times since`], counterEvidence: [] },
    isBefore
      ? { weight: 1, evidence: [], counterEvidence: [] }
      : { weight: 0.45, evidence: [], counterEvidence: ['it began with the symptom and may be part of it'] },
    place.degradations.length === 0
      ? { weight: 0, evidence: [], counterEvidence: [`requests of ${nodeDisplayName(node)} are not worse`] }
      : {
          weight: 1,
          evidence: [`${nodeDisplayName(node)} since then: ${describeWorsening(place.degradations)}`],
          counterEvidence: [],
        },
  );
};

/** A callee as the origin of the symptom, regardless of its own cause. */
const judgeCallee = (place: BlamedNode): JudgedCause[] =>
  place.path.length === 1
    ? []
    : [
        combineEvidence(
          {
            kind: 'callee',
            at: place.node,
            beginMs: place.onsetMs,
            link: '',
            title: `${nodeDisplayName(place.node)} fails or is slow`,
          },
          place.path,
          judgeLocation(place),
          place.degradations.length === 0
            ? { weight: 1, evidence: [], counterEvidence: ['none of its own requests is known to have become worse'] }
            : {
                weight: 1.1,
                evidence: [`it reports this itself: ${describeWorsening(place.degradations)}`],
                counterEvidence: [],
              },
        ),
      ];

/** Other services on the same full hosts that make many more requests than before. */
const judgeNeighbours = (place: BlamedNode, context: IncidentContext): JudgedCause[] => {
  const own = context.hosts.get(place.node) ?? new Map<string, never>();
  return [...own.keys()].flatMap((host) => {
    const isFull = context.gauges.some(
      (gauge) =>
        gauge.host === host &&
        judgeSaturation(gauge, place.onsetMs, onsetOfIncrease(gauge.values, place.onsetMs), context.untilMs).weight > 0,
    );
    if (!isFull) return [];
    return [...context.hosts].flatMap(([node, hosts]) => {
      const minutes = hosts.get(host);
      if (node === place.node || minutes === undefined || place.path.includes(node)) return [];
      const beginMs = onsetOfIncrease(
        minutes.map(({ atMs, requests }) => [atMs, requests] as const),
        place.onsetMs,
      );
      const requests = (fromMs: number, toMs: number): number =>
        mean(selectMinutes(minutes, fromMs, toMs).map((each) => each.requests));
      const [was, is] = [requests(beginMs - maxLeadMinutes * minuteMs, beginMs), requests(beginMs, context.untilMs)];
      if (is < 2 * was || is < 10) return [];
      return [
        combineEvidence(
          {
            kind: 'neighbour',
            at: node,
            beginMs,
            title: `${nodeDisplayName(node)} on ${host} receives ${(is / Math.max(1, was)).toFixed(1)} times as many requests`,
            link: '',
          },
          place.path,
          judgeLocation(place),
          judgeTime(beginMs, place),
          judgeHost(host, place, context),
          { weight: 1.1, evidence: [`it also runs on ${host}, which has been full since`], counterEvidence: [] },
        ),
      ];
    });
  });
};

/** Deduplicates the judgements of one candidate at several nodes: the best one counts. */
const deduplicate = (all: readonly JudgedCause[]): JudgedCause[] => {
  const best = new Map<string, JudgedCause>();
  for (const each of all) {
    const key = JSON.stringify([each.kind, each.at, each.title]);
    if (each.score > (best.get(key)?.score ?? -1)) best.set(key, each);
  }
  return [...best.values()].toSorted((one, other) => other.score - one.score);
};

/** Judges all candidates of a context. */
export const findCauses = (context: IncidentContext): Causes => {
  const blamed = attributeSymptom(context);
  const byNode = new Map(blamed.map((each) => [each.node, each]));
  const symptomNodes = context.symptoms.flatMap((node) => byNode.get(node) ?? []);
  const onsetMs = Math.min(...symptomNodes.map((each) => each.onsetMs), context.detectedMs);
  const symptom = symptomNodes.flatMap(({ node, degradations }) =>
    degradations.length === 0 ? [] : [`${nodeDisplayName(node)}: ${describeWorsening(degradations)}`],
  );
  const all = deduplicate([
    ...context.changes.flatMap((change) => judgeChange(change, byNode, context)),
    ...context.gauges.flatMap((gauge) => judgeGauge(gauge, byNode, context)),
    ...context.novelties.map((novelty) => judgeNovelty(novelty, byNode)),
    ...blamed.flatMap(judgeCallee),
    ...blamed.flatMap((place) => judgeNeighbours(place, context)),
  ]).map((each) => ({ ...each, score: Math.min(1, each.score) }));
  const isSeen = symptom.length > 0;
  const causes = isSeen ? all.filter(({ score }) => score >= minScore) : [];
  const claimed = new Set(causes);
  const names = context.symptoms.map(nodeDisplayName).join(', ');
  const reason =
    causes.length > 0
      ? null
      : isSeen
        ? 'no event on the path of the symptom explains it'
        : `requests of ${names} are no worse than before: there is no symptom to explain`;
  return { onsetMs, symptom, causes, others: all.filter((each) => !claimed.has(each)).slice(0, maxOthers), reason };
};
