/**
 * Judges changes of the source of a symptom: of the alert rule, the detector, the plan (ingest and retention), or the
 * alert routes. They do not change a service, but how its problems are reported. If requests are not degraded, they may
 * be the cause.
 */

import { minuteMs } from './incident-context.ts';
import type { Evidence, ScoredCause } from './score-causes.ts';

export interface SymptomSource {
  readonly what: 'alert rule' | 'detector' | 'plan' | 'alert routing';
  readonly id: string;
}

export interface SourceChange {
  readonly shownBy: SymptomSource;
  readonly atMs: number;
  /** Description of the change. */
  readonly title: string;
}

export interface SymptomFacts {
  readonly noticedMs: number;
  /** Whether requests on the path of the symptom are degraded. */
  readonly areRequestsWorse: boolean;
}

/** Range of analyzed changes before a symptom. */
export const changesBeforeMs = 60 * minuteMs;
const clockToleranceMs = minuteMs;
/** Minutes over which the relevance of a change decays. */
const decayMinutes = 30;

interface SourceKind {
  /** Prior probability as a cause. Routes change the recipients, and never the content. */
  readonly prior: number;
  createLink(id: string): string;
  readonly description: string;
  readonly counterEvidence?: string;
}
const sourceKinds: Readonly<Record<SymptomSource['what'], SourceKind>> = {
  'alert rule': {
    prior: 0.9,
    createLink: (id) => `/api/alerts/rules/${id}`,
    description: 'the alert rule that detected the symptom',
  },
  detector: {
    prior: 0.9,
    createLink: (id) => `/api/ai/detectors/${id}`,
    description: 'the detector that detected the symptom',
  },
  plan: {
    prior: 0.6,
    createLink: () => '/api/billing',
    description: 'the plan, which controls how telemetry is ingested and retained',
  },
  'alert routing': {
    prior: 0.2,
    createLink: () => '/api/v2/alerts/routing',
    description: 'the routes of alert notifications',
    counterEvidence: 'routes change who is notified of an alert, not whether it fires',
  },
};

const judgeSourceChange = (
  { shownBy: { what, id }, atMs, title }: SourceChange,
  { noticedMs, areRequestsWorse }: SymptomFacts,
): ScoredCause => {
  const gap = (noticedMs - atMs) / minuteMs;
  const timeText = `it was changed ${Math.round(Math.abs(gap))} minutes ${gap < 0 ? 'after' : 'before'} the symptom`;
  const isAfter = atMs > noticedMs + clockToleranceMs;
  const { prior, createLink, description, counterEvidence } = sourceKinds[what];
  const toEvidence = (text: string): Evidence => ({ text, link: createLink(id) });
  return {
    kind: 'configuration',
    at: `${what} ${id}`,
    beginMs: atMs,
    title,
    link: createLink(id),
    path: [],
    score: isAfter || areRequestsWorse ? 0 : prior * Math.exp(-Math.max(0, gap) / decayMinutes),
    evidence: (isAfter ? [] : [`${description}: ${timeText}`]).map(toEvidence),
    counterEvidence: [
      ...(isAfter ? [timeText] : []),
      ...(areRequestsWorse ? ['requests are worse, regardless of how they are measured'] : []),
      ...(counterEvidence === undefined ? [] : [counterEvidence]),
    ].map(toEvidence),
  };
};

/** Judges users' changes of the source of a symptom, most likely cause first. */
export const scoreSourceChanges = (changes: readonly SourceChange[], facts: SymptomFacts): ScoredCause[] =>
  changes.map((change) => judgeSourceChange(change, facts)).toSorted((left, right) => right.score - left.score);
