/**
 * Changes of the source of a symptom: the rule of an alert, the detector of an anomaly, the plan (ingest and
 * retention), the alert routes. They change no service, but how it is reported: if requests are not degraded, they may
 * be the cause.
 */

import { minuteMs } from './incident-context.ts';
import type { Judged } from './judge.ts';

export interface ShownBy {
  readonly what: 'alert rule' | 'detector' | 'plan' | 'alert routing';
  readonly id: string;
}

export interface ChangeOfShown {
  readonly shownBy: ShownBy;
  readonly atMs: number;
  /** Description of the change. */
  readonly title: string;
}

export interface Shown {
  readonly noticedMs: number;
  /** Whether requests on the path of the symptom are degraded. */
  readonly isWorse: boolean;
}

/** Range of analyzed changes before a symptom, and the maximum clock difference. */
export const changesBeforeMs = 60 * minuteMs;
const late = minuteMs;
/** Minutes over which the relevance of a change decays. */
const fading = 30;

interface Way {
  /** Prior probability as a cause. Routes change the recipients, and never the content. */
  readonly prior: number;
  link(id: string): string;
  readonly does: string;
  readonly counterEvidence?: string;
}
const ways: Readonly<Record<ShownBy['what'], Way>> = {
  'alert rule': {
    prior: 0.9,
    link: (id) => `/api/alerts/rules/${id}`,
    does: 'the alert rule that detected the symptom',
  },
  detector: { prior: 0.9, link: (id) => `/api/ai/detectors/${id}`, does: 'the detector that detected the symptom' },
  plan: {
    prior: 0.6,
    link: () => '/api/billing',
    does: 'the plan, which controls how telemetry is ingested and retained',
  },
  'alert routing': {
    prior: 0.2,
    link: () => '/api/v2/alerts/routing',
    does: 'the routes of alert notifications',
    counterEvidence: 'routes change who is notified of an alert, not whether it fires',
  },
};

const judged = ({ shownBy: { what, id }, atMs, title }: ChangeOfShown, { noticedMs, isWorse }: Shown): Judged => {
  const gap = (noticedMs - atMs) / minuteMs;
  const when = `it was changed ${Math.round(Math.abs(gap))} minutes ${gap < 0 ? 'after' : 'before'} the symptom`;
  const isAfter = atMs > noticedMs + late;
  const { prior, link, does, counterEvidence } = ways[what];
  return {
    kind: 'configuration',
    at: `${what} ${id}`,
    beginMs: atMs,
    title,
    link: link(id),
    path: [],
    score: isAfter || isWorse ? 0 : prior * Math.exp(-Math.max(0, gap) / fading),
    evidence: isAfter ? [] : [`${does}: ${when}`],
    counterEvidence: [
      ...(isAfter ? [when] : []),
      ...(isWorse ? ['requests are worse, regardless of how they are measured'] : []),
      ...(counterEvidence === undefined ? [] : [counterEvidence]),
    ],
  };
};

/** Judges users' changes of the source of a symptom, most likely cause first. */
export const judgeSourceChanges = (changes: readonly ChangeOfShown[], shown: Shown): Judged[] =>
  changes.map((change) => judged(change, shown)).toSorted((one, other) => other.score - one.score);
