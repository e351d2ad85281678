/**
 * Judges possible causes of a symptom, with evidence for and against each. A cause must be on the symptom's path and
 * not begin after it, and it is tested by the minutes before and after. Candidates that cannot be tested are not
 * claimed.
 */
import { type AttributedNode, attributeSymptom } from './attribution.ts';
import {
  computeExcess,
  type Degradation,
  findDegradations,
  findIncreaseOnset,
  findUncertainty,
  selectMinutes,
} from './degradations.ts';
import { createRequestsLink } from './evidence-links.ts';
import {
  type Change,
  type Gauge,
  getNodeDisplayName,
  type IncidentContext,
  type MinuteActivity,
  minuteMs,
  type Novelty,
} from './incident-context.ts';

export const causeKinds = [
  ...(['deployment', 'configuration', 'restart', 'oom-kill', 'saturation', 'neighbour', 'callee'] as const),
  ...(['error', 'log-pattern'] as const),
] as const;
export type CauseKind = (typeof causeKinds)[number];

/** A statement about a cause */
export interface Evidence {
  readonly text: string;
  /** Path of the API with the records that show it; empty if there are none */
  readonly link: string;
}

export interface ScoredCause {
  readonly kind: CauseKind;
  /** Subject of the cause: a service, a database, a host. */
  readonly at: string;
  readonly beginMs: number;
  readonly title: string;
  readonly link: string;
  /** Score from 0 to 1. */
  readonly score: number;
  readonly evidence: readonly Evidence[];
  readonly counterEvidence: readonly Evidence[];
  readonly path: readonly string[];
}

export interface Causes {
  readonly onsetMs: number;
  readonly symptom: readonly string[];
  /** Claimed causes, most likely first. */
  readonly causes: readonly ScoredCause[];
  /** Analyzed candidates that are not claimed. */
  readonly sharesOnOthers: readonly ScoredCause[];
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
/** Minutes within which a change takes effect */
const maxRolloutMinutes = 2;
/** Minutes between a change and the symptom that suffice to see the effect of the change alone. */
const decisiveGap = 5;
const saturation = { share: 0.9, rise: 0.1 };
const maxOthers = 20;

const formatMinutes = (ms: number): string => `${Math.round(ms / minuteMs)} minutes`;
const formatPercent = (share: number): string => `${Number((100 * share).toPrecision(2))} %`;
const aspectNames = { errors: 'errors', latency: 'latency', tail: 'slow requests' } as const;

export const describeDegradations = (worse: readonly Degradation[]): string =>
  worse
    .map(({ aspect, compared: { before, after } }) =>
      aspect === 'latency'
        ? 'requests take longer'
        : `${aspectNames[aspect]} ${formatPercent(before)} → ${formatPercent(after)}`,
    )
    .join(', ');

/** Evidence about a candidate from one check, with a link to its records; without one, the link of the candidate */
interface WeightedEvidence {
  readonly weight: number;
  readonly evidence: string[];
  readonly counterEvidence: string[];
  readonly link?: string;
}

/** Judges a candidate by its start: shortly before the symptom it is likely, after the symptom impossible. */
const scoreTime = (beginMs: number, { onsetMs, earliestMs, latestMs }: AttributedNode): WeightedEvidence => {
  const gap = (Math.max(beginMs, earliestMs) - beginMs) / minuteMs;
  if (beginMs > latestMs + maxDelayMinutes * minuteMs)
    return {
      weight: 0,
      evidence: [],
      counterEvidence: [`it began ${formatMinutes(beginMs - onsetMs)} after the symptom`],
    };
  if (gap > maxLeadMinutes)
    return {
      weight: 0,
      evidence: [],
      counterEvidence: [`it began ${formatMinutes(onsetMs - beginMs)} before the symptom`],
    };
  const weight = Math.exp(-Math.max(0, gap - 3) / 15);
  const startText = gap < 1 ? 'as the symptom did' : `${formatMinutes(onsetMs - beginMs)} before the symptom`;
  return gap > decisiveGap
    ? { weight, evidence: [], counterEvidence: [`it began ${startText}`] }
    : { weight, evidence: [`it began ${startText}`], counterEvidence: [] };
};

const scoreLocation = (attributedNode: AttributedNode, { untilMs }: IncidentContext): WeightedEvidence => {
  const { node, own, reachingShare, path, onsetMs } = attributedNode;
  const evidence =
    path.length === 1
      ? [`${getNodeDisplayName(node)} has the symptom itself`]
      : [
          `the calls ${path.map(getNodeDisplayName).join(' → ')} became worse, which explains ${formatPercent(reachingShare)} of the symptom`,
        ];
  const counterEvidence =
    own < 0.5 * reachingShare
      ? [`${formatPercent(1 - own / reachingShare)} of the symptom comes from its dependencies`]
      : [];
  return {
    weight: own,
    evidence,
    counterEvidence,
    link: createRequestsLink(attributedNode, { fromMs: onsetMs, untilMs }),
  };
};

/** Judges whether requests of the node degraded with the candidate, and not only with the symptom. */
const scoreEffect = (
  atMs: number,
  attributedNode: AttributedNode,
  { nodes, untilMs }: IncidentContext,
): WeightedEvidence => {
  const { node, onsetMs, earliestMs, degradations } = attributedNode;
  const link = createRequestsLink(attributedNode, { fromMs: Math.min(atMs, onsetMs), untilMs });
  const minutes = nodes.get(node) ?? [];
  const sinceChange = findDegradations(minutes, Math.min(atMs, onsetMs), { untilMs });
  // A change that takes effect within minutes leaves the first of them as they were.
  const isGradual = sinceChange?.length === 0 && atMs <= onsetMs && onsetMs - atMs <= maxRolloutMinutes * minuteMs;
  const since = isGradual ? degradations : sinceChange;
  if (since === undefined)
    return {
      weight: 0,
      evidence: [],
      counterEvidence: [`too few requests of ${getNodeDisplayName(node)} to compare before and after`],
      link,
    };
  if (since.length === 0)
    return { weight: 0, evidence: [], counterEvidence: ['requests are no worse after it than before'], link };
  const evidence = [`${getNodeDisplayName(node)} after it: ${describeDegradations(since)}`];
  if (earliestMs - atMs <= decisiveGap * minuteMs) return { weight: 1, evidence, counterEvidence: [], link };
  const degradationsBefore = findDegradations(minutes, atMs, { untilMs: earliestMs });
  const isCausedByCandidate = degradationsBefore?.some(({ aspect }) =>
    degradations.some((worsening) => worsening.aspect === aspect),
  );
  return isCausedByCandidate
    ? { weight: 1, evidence, counterEvidence: [], link }
    : {
        weight: 0.1,
        evidence: [],
        counterEvidence: [`nothing changed for ${formatMinutes(onsetMs - atMs)} after it`],
        link,
      };
};

type CauseFields = Pick<ScoredCause, 'kind' | 'at' | 'beginMs' | 'title' | 'link'>;

const combineEvidence = (
  fields: CauseFields,
  path: readonly string[],
  ...evidenceList: readonly WeightedEvidence[]
): ScoredCause => ({
  ...fields,
  path,
  score: evidenceList.reduce((product, { weight }) => product * weight, priors[fields.kind]),
  evidence: evidenceList.flatMap(({ evidence, link = fields.link }) => evidence.map((text) => ({ text, link }))),
  counterEvidence: evidenceList.flatMap(({ counterEvidence, link = fields.link }) =>
    counterEvidence.map((text) => ({ text, link })),
  ),
});

const createOffPathCause = (fields: CauseFields): ScoredCause =>
  combineEvidence(fields, [], { weight: 0, evidence: [], counterEvidence: ['it is not on the path of the symptom'] });

/** Judges by the share of a node's degradation on one of its hosts. */
const scoreHost = (
  host: string,
  attributedNode: AttributedNode,
  { hosts, untilMs }: IncidentContext,
): WeightedEvidence => {
  const { node, onsetMs, degradations } = attributedNode;
  const link = createRequestsLink(attributedNode, { fromMs: onsetMs, untilMs }, host);
  const hostMinutes = hosts.get(node);
  const minutesOnHost = hostMinutes?.get(host);
  if (hostMinutes === undefined || minutesOnHost === undefined)
    return { weight: 0, evidence: [], counterEvidence: [`${getNodeDisplayName(node)} does not run there`] };
  if (hostMinutes.size === 1)
    return { weight: 1, evidence: [`${getNodeDisplayName(node)} runs only on ${host}`], counterEvidence: [], link };
  const isAboutErrors = degradations.some(({ aspect }) => aspect === 'errors');
  const computeShare = (minutes: readonly MinuteActivity[]): number => {
    const { errors, duration } = computeExcess(minutes, minutes, onsetMs, untilMs);
    return Math.max(0, isAboutErrors ? errors : duration);
  };
  const shareOnHost = computeShare(minutesOnHost);
  const sharesOnOthers = [...hostMinutes].filter(([name]) => name !== host).map(([, minutes]) => computeShare(minutes));
  const maxShareOnOthers = Math.max(...sharesOnOthers);
  const isWorseOnHost = shareOnHost > 2 * maxShareOnOthers;
  return isWorseOnHost
    ? {
        weight: 1,
        evidence: [
          `requests became worse on ${host}, and less so or not at all on its ${sharesOnOthers.length} other hosts`,
        ],
        counterEvidence: [],
        link,
      }
    : {
        weight: 0.15,
        evidence: [],
        counterEvidence: [`requests became equally worse on hosts other than ${host}`],
        link,
      };
};

const judgeChange = (
  change: Change,
  attributionByNode: ReadonlyMap<string, AttributedNode>,
  context: IncidentContext,
): ScoredCause[] => {
  const { kind, node, host, atMs, title, link } = change;
  const fields = { kind, beginMs: atMs, title, link };
  const attributedNodes = [...attributionByNode.values()].filter((attributedNode) =>
    node === undefined
      ? context.hosts.get(attributedNode.node)?.has(host ?? '') === true
      : attributedNode.node === node,
  );
  if (attributedNodes.length === 0) return [createOffPathCause({ ...fields, at: node ?? host ?? '' })];
  return attributedNodes.map((attributedNode) =>
    combineEvidence(
      { ...fields, at: node ?? host ?? '' },
      attributedNode.path,
      scoreLocation(attributedNode, context),
      scoreTime(atMs, attributedNode),
      ...(node === undefined && host !== undefined ? [scoreHost(host, attributedNode, context)] : []),
      scoreEffect(atMs, attributedNode, context),
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
  const [meanBefore, meanAfter] = [mean(before), mean(after)];
  if (meanAfter < saturation.share)
    return { weight: 0, evidence: [], counterEvidence: [`it is ${formatPercent(meanAfter)} full`] };
  if (meanAfter - meanBefore < saturation.rise)
    return {
      weight: 0,
      evidence: [],
      counterEvidence: [`it was ${formatPercent(meanBefore)} full before the symptom, too`],
    };
  return {
    weight: 1,
    evidence: [`${formatPercent(meanBefore)} full before, ${formatPercent(meanAfter)} since`],
    counterEvidence: [],
  };
};

const judgeGauge = (
  gauge: Gauge,
  attributionByNode: ReadonlyMap<string, AttributedNode>,
  context: IncidentContext,
): ScoredCause[] => {
  const { node, host, title, link, values } = gauge;
  const attributedNodes = [...attributionByNode.values()].filter((attributedNode) =>
    node === undefined
      ? context.hosts.get(attributedNode.node)?.has(host ?? '') === true
      : attributedNode.node === node,
  );
  const subject = node ?? host ?? '';
  const kind = 'saturation';
  if (attributedNodes.length === 0)
    return [
      createOffPathCause({ kind, at: subject, beginMs: findIncreaseOnset(values, context.detectedMs), title, link }),
    ];
  return attributedNodes.map((attributedNode) => {
    const beginMs = findIncreaseOnset(values, attributedNode.onsetMs);
    // A resource may fill up slowly, so an early start is not counted against it if it was not full before.
    return combineEvidence(
      { kind, at: subject, beginMs, title, link },
      attributedNode.path,
      scoreLocation(attributedNode, context),
      scoreTime(Math.max(beginMs, attributedNode.onsetMs - 3 * minuteMs), attributedNode),
      ...(node === undefined && host !== undefined ? [scoreHost(host, attributedNode, context)] : []),
      judgeSaturation(gauge, attributedNode.onsetMs, beginMs, context.untilMs),
      attributedNode.degradations.length === 0
        ? {
            weight: 0,
            evidence: [],
            counterEvidence: [`requests of ${getNodeDisplayName(attributedNode.node)} are not worse`],
          }
        : {
            weight: 1,
            evidence: [
              `${getNodeDisplayName(attributedNode.node)} since then: ${describeDegradations(attributedNode.degradations)}`,
            ],
            counterEvidence: [],
            link: createRequestsLink(attributedNode, { fromMs: attributedNode.onsetMs, untilMs: context.untilMs }),
          },
    );
  });
};

/**
 * New patterns and errors of a node: before the symptom they may be its cause, at the same time they are part of it.
 */
const judgeNovelty = (
  { kind, node, firstMs, count, title, link }: Novelty,
  attributionByNode: ReadonlyMap<string, AttributedNode>,
  context: IncidentContext,
): ScoredCause => {
  const fields = { kind, at: node, beginMs: firstMs, title, link };
  const attribution = attributionByNode.get(node);
  if (attribution === undefined) return createOffPathCause(fields);
  const isBefore = attribution.onsetMs - firstMs >= minuteMs;
  return combineEvidence(
    fields,
    attribution.path,
    scoreLocation(attribution, context),
    scoreTime(firstMs, attribution),
    { weight: 1, evidence: [`it never occurred before, and has occurred ${count} times since`], counterEvidence: [] },
    isBefore
      ? { weight: 1, evidence: [], counterEvidence: [] }
      : { weight: 0.45, evidence: [], counterEvidence: ['it began with the symptom and may be part of it'] },
    attribution.degradations.length === 0
      ? { weight: 0, evidence: [], counterEvidence: [`requests of ${getNodeDisplayName(node)} are not worse`] }
      : {
          weight: 1,
          evidence: [`${getNodeDisplayName(node)} since then: ${describeDegradations(attribution.degradations)}`],
          counterEvidence: [],
          link: createRequestsLink(attribution, { fromMs: attribution.onsetMs, untilMs: context.untilMs }),
        },
  );
};

/** A callee as the origin of the symptom, regardless of its own cause. */
const judgeCallee = (attributedNode: AttributedNode, context: IncidentContext): ScoredCause[] =>
  attributedNode.path.length === 1
    ? []
    : [
        combineEvidence(
          {
            kind: 'callee',
            at: attributedNode.node,
            beginMs: attributedNode.onsetMs,
            link: '',
            title: `${getNodeDisplayName(attributedNode.node)} fails or is slow`,
          },
          attributedNode.path,
          scoreLocation(attributedNode, context),
          attributedNode.degradations.length === 0
            ? { weight: 1, evidence: [], counterEvidence: ['none of its own requests is known to have become worse'] }
            : {
                weight: 1.1,
                evidence: [`it reports this itself: ${describeDegradations(attributedNode.degradations)}`],
                counterEvidence: [],
                link: createRequestsLink(attributedNode, { fromMs: attributedNode.onsetMs, untilMs: context.untilMs }),
              },
        ),
      ];

/** Other services on the same full hosts that make many more requests than before. */
const judgeNeighbours = (attributedNode: AttributedNode, context: IncidentContext): ScoredCause[] => {
  const ownHosts = context.hosts.get(attributedNode.node) ?? new Map<string, never>();
  return [...ownHosts.keys()].flatMap((host) => {
    const isFull = context.gauges.some(
      (gauge) =>
        gauge.host === host &&
        judgeSaturation(
          gauge,
          attributedNode.onsetMs,
          findIncreaseOnset(gauge.values, attributedNode.onsetMs),
          context.untilMs,
        ).weight > 0,
    );
    if (!isFull) return [];
    return [...context.hosts].flatMap(([node, hosts]) => {
      const minutes = hosts.get(host);
      if (node === attributedNode.node || minutes === undefined || attributedNode.path.includes(node)) return [];
      const beginMs = findIncreaseOnset(
        minutes.map(({ atMs, requests }) => [atMs, requests] as const),
        attributedNode.onsetMs,
      );
      const requests = (fromMs: number, toMs: number): number =>
        mean(selectMinutes(minutes, fromMs, toMs).map((minute) => minute.requests));
      const [meanBefore, meanAfter] = [
        requests(beginMs - maxLeadMinutes * minuteMs, beginMs),
        requests(beginMs, context.untilMs),
      ];
      if (meanAfter < 2 * meanBefore || meanAfter < 10) return [];
      return [
        combineEvidence(
          {
            kind: 'neighbour',
            at: node,
            beginMs,
            title: `${getNodeDisplayName(node)} on ${host} receives ${(meanAfter / Math.max(1, meanBefore)).toFixed(1)} times as many requests`,
            link: '',
          },
          attributedNode.path,
          scoreLocation(attributedNode, context),
          scoreTime(beginMs, attributedNode),
          scoreHost(host, attributedNode, context),
          { weight: 1.1, evidence: [`it also runs on ${host}, which has been full since`], counterEvidence: [] },
        ),
      ];
    });
  });
};

/** Deduplicates the judgements of one candidate at several nodes: the best one counts. */
const deduplicate = (judgedCauses: readonly ScoredCause[]): ScoredCause[] => {
  const best = new Map<string, ScoredCause>();
  for (const cause of judgedCauses) {
    const key = JSON.stringify([cause.kind, cause.at, cause.title]);
    if (cause.score > (best.get(key)?.score ?? -1)) best.set(key, cause);
  }
  return [...best.values()].toSorted((left, right) => right.score - left.score);
};

/** Returns why there are no causes: none explains the symptom, there is no symptom, or it cannot be determined. */
const explainMissingCauses = (
  { symptoms, nodes, untilMs }: IncidentContext,
  symptomNodes: readonly AttributedNode[],
  hasSymptom: boolean,
): string => {
  if (hasSymptom) return 'no event on the path of the symptom explains it';
  const uncertainties = symptomNodes.flatMap(({ node, onsetMs }) => {
    const uncertainty = findUncertainty(nodes.get(node) ?? [], onsetMs, { untilMs });
    return uncertainty === undefined ? [] : [`${getNodeDisplayName(node)}: ${uncertainty}`];
  });
  const names = symptoms.map(getNodeDisplayName).join(', ');
  return uncertainties.length === 0
    ? `requests of ${names} are no worse than before: there is no symptom to explain`
    : `whether requests are worse than before cannot be determined: ${uncertainties.join('; ')}`;
};

/** Judges all candidates of a context. */
export const findCauses = (context: IncidentContext): Causes => {
  const blamed = attributeSymptom(context);
  const byNode = new Map(blamed.map((attributedNode) => [attributedNode.node, attributedNode]));
  const symptomNodes = context.symptoms.flatMap((node) => byNode.get(node) ?? []);
  const onsetMs = Math.min(...symptomNodes.map((symptomNode) => symptomNode.onsetMs), context.detectedMs);
  const symptom = symptomNodes.flatMap(({ node, degradations }) =>
    degradations.length === 0 ? [] : [`${getNodeDisplayName(node)}: ${describeDegradations(degradations)}`],
  );
  const allCauses = deduplicate([
    ...context.changes.flatMap((change) => judgeChange(change, byNode, context)),
    ...context.gauges.flatMap((gauge) => judgeGauge(gauge, byNode, context)),
    ...context.novelties.map((novelty) => judgeNovelty(novelty, byNode, context)),
    ...blamed.flatMap((attributedNode) => judgeCallee(attributedNode, context)),
    ...blamed.flatMap((attribution) => judgeNeighbours(attribution, context)),
  ]).map((judgedCause) => ({ ...judgedCause, score: Math.min(1, judgedCause.score) }));
  const hasSymptom = symptom.length > 0;
  const causes = hasSymptom ? allCauses.filter(({ score }) => score >= minScore) : [];
  const claimed = new Set(causes);
  const reason = causes.length > 0 ? null : explainMissingCauses(context, symptomNodes, hasSymptom);
  return {
    onsetMs,
    symptom,
    causes,
    sharesOnOthers: allCauses.filter((allCause) => !claimed.has(allCause)).slice(0, maxOthers),
    reason,
  };
};
