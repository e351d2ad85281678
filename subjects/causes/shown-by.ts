/**
 * Changes of what shows a symptom: the rule of an alert, the detector of an anomaly. They change no service, but what is told of it: where
 * requests are not worse they are the likeliest cause.
 */
import type { Judged } from './judge.ts';
import { minuteMs } from './scene.ts';

export interface ShownBy {
  readonly what: 'alert rule' | 'detector';
  readonly id: string;
}

export interface ChangeOfShown {
  readonly shownBy: ShownBy;
  readonly atMs: number;
  /** What was done, and what it is called. */
  readonly title: string;
}

export interface Shown {
  readonly noticedMs: number;
  /** Whether requests on the path of the symptom are worse. */
  readonly isWorse: boolean;
}

/** How long before a symptom changes are looked at, and by how much clocks may differ. */
export const changesBeforeMs = 60 * minuteMs;
const late = minuteMs;
/** Minutes by which a change counts less and less. */
const fading = 30;

const judged = ({ shownBy: { what, id }, atMs, title }: ChangeOfShown, { noticedMs, isWorse }: Shown): Judged => {
  const gap = (noticedMs - atMs) / minuteMs;
  const when = `it was changed ${Math.round(Math.abs(gap))} minutes ${gap < 0 ? 'after' : 'before'} the symptom`;
  const isAfter = atMs > noticedMs + late;
  const path = what === 'detector' ? 'ai/detectors' : 'alerts/rules';
  return {
    ...{ kind: 'configuration', at: `${what} ${id}`, beginMs: atMs, title, link: `/api/${path}/${id}`, path: [] },
    score: isAfter || isWorse ? 0 : 0.9 * Math.exp(-Math.max(0, gap) / fading),
    evidence: isAfter ? [] : [`the ${what} that shows the symptom: ${when}`],
    against: [...(isAfter ? [when] : []), ...(isWorse ? ['requests are worse, whatever shows it'] : [])],
  };
};

/** What people did to that which shows a symptom, the likeliest cause first. */
export const judgeShown = (changes: readonly ChangeOfShown[], shown: Shown): Judged[] =>
  changes.map((change) => judged(change, shown)).toSorted((one, other) => other.score - one.score);
