/** Suggests a threshold for a rule that fires too often, by replaying past evaluations */
import type { AlertState } from '../../schemas/alerts.ts';
import { evaluate } from '../alerts/evaluate.ts';
import { type AlertRule, AlertRuleFields, type Threshold } from '../alerts/rule.ts';
import { createAlertId, emptyState, type Labels, type RuleState, toGroupKey } from '../alerts/state.ts';
import type { Suggestion } from './suggestion.ts';

export interface PastValues {
  readonly atMs: number;
  readonly groups: readonly { readonly labels: Labels; readonly value: number | null }[];
}

export interface RuleHistory {
  readonly rule: AlertRule;
  readonly tenantId: string;
  /** Evaluations in order */
  readonly evaluations: readonly PastValues[];
  /** Acknowledged alerts */
  readonly acknowledged: readonly { readonly alertId: string; readonly startedAtMs: number }[];
}

/** An alert from start to end, with its most extreme value */
interface Episode {
  readonly alertId: string;
  readonly fromMs: number;
  toMs: number;
  peak: number;
}

const minAlerts = 10;
/** Maximum share of the alerts that a better threshold retains */
const maxRetainedShare = 0.5;
const quantiles = [0.5, 0.75, 0.9, 0.95];

const getThresholdSide = ({ operator }: Threshold): 1 | -1 | undefined => {
  if (operator === 'above' || operator === 'at-least') return 1;
  return operator === 'below' ? -1 : undefined;
};

/** Adapts a rule for replay, which compares a single stored value; a group without a value is healthy. */
const toReplayRule = (rule: AlertRule): AlertRule => {
  const { condition } = rule;
  if (condition.kind !== 'threshold') return rule;
  const { step: _step, ...others } = condition;
  return { ...rule, condition: { ...others, match: 'last' }, noData: 'resolve', labels: {}, annotations: {} };
};

/** Returns a function that checks whether a value may meet the condition. */
const createConditionTest = ({ condition }: AlertRule, side: 1 | -1): ((value: number) => boolean) => {
  const limit = condition.kind === 'threshold' ? condition.thresholds[0]?.value : undefined;
  return (value) => limit === undefined || !(side * value < side * limit);
};

class EpisodeTracker {
  readonly episodes: Episode[] = [];
  readonly #openEpisodes = new Map<string, Episode>();
  readonly #side: 1 | -1;

  constructor(side: 1 | -1) {
    this.#side = side;
  }

  recordTransition(alertId: string, to: AlertState, atMs: number): void {
    if (to === 'inactive') this.#openEpisodes.delete(alertId);
    if (to !== 'firing' || this.#openEpisodes.has(alertId)) return;
    const episode = { alertId, fromMs: atMs, toMs: atMs, peak: -this.#side * Number.POSITIVE_INFINITY };
    this.#openEpisodes.set(alertId, episode);
    this.episodes.push(episode);
  }

  recordValue(alertId: string, value: number | null, atMs: number): void {
    const episode = this.#openEpisodes.get(alertId);
    if (episode === undefined || value === null) return;
    episode.toMs = atMs;
    if (this.#side * value > this.#side * episode.peak) episode.peak = value;
  }
}

const replayEpisodes = (
  alertRule: AlertRule,
  { tenantId, evaluations }: RuleHistory,
  side: 1 | -1,
): readonly Episode[] => {
  const rule = toReplayRule(alertRule);
  const episodes = new EpisodeTracker(side);
  const isBeyond = createConditionTest(alertRule, side);
  let prior: RuleState = emptyState();
  for (const { atMs, groups } of evaluations) {
    const isAlertActive = Object.values(prior.alerts).some(({ state }) => state !== 'inactive');
    // If no alert is active and no value is beyond the threshold, an evaluation has no effect; most evaluations of a
    // week are of this kind.
    if (!isAlertActive && !groups.some(({ value }) => value !== null && isBeyond(value))) continue;
    const groupPoints = groups.map(({ labels, value }) => ({ labels, points: [value] }));
    const result = { kind: 'groups', unit: '', groups: groupPoints } as const;
    const evaluation = evaluate({ tenantId, rule, prior, result, nowMs: atMs });
    prior = evaluation.state;
    for (const { alertId, to } of evaluation.transitions) episodes.recordTransition(alertId, to, atMs);
    for (const { labels, value } of groups)
      episodes.recordValue(createAlertId(rule.id, toGroupKey(labels)), value, atMs);
  }
  return episodes.episodes;
};

/** Rounds to two significant digits, away from normal values. */
const roundAway = (value: number, side: 1 | -1): number => {
  if (value === 0) return 0;
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(value))) - 1);
  const round = side * value > 0 ? Math.ceil : Math.floor;
  return Number((side * round((side * value) / unit) * unit).toPrecision(12));
};

/** Returns the rule with another value for its lowest threshold. */
const replaceThreshold = (rule: AlertRule, value: number): AlertRule => {
  const { condition } = rule;
  if (condition.kind !== 'threshold') return rule;
  const [first, ...others] = condition.thresholds;
  if (first === undefined) return rule;
  const { recovery, value: before = 0, ...rest } = first;
  const shiftedRecovery = recovery === undefined ? {} : { recovery: recovery + value - before };
  return { ...rule, condition: { ...condition, thresholds: [{ ...rest, value, ...shiftedRecovery }, ...others] } };
};

interface BetterThreshold {
  readonly value: number;
  readonly before: number;
  readonly after: number;
  readonly acknowledged: number;
}

/**
 * Returns the closest threshold that retains at most half of the alerts, including all acknowledged ones; `undefined`
 * if there is none.
 */
export const findBetterThreshold = (history: RuleHistory): BetterThreshold | undefined => {
  const { condition } = history.rule;
  if (condition.kind !== 'threshold' || condition.thresholds.length !== 1) return undefined;
  const [threshold] = condition.thresholds;
  const side = threshold && getThresholdSide(threshold);
  if (threshold?.value === undefined || threshold.unit !== undefined || side === undefined) return undefined;
  const { value: currentValue } = threshold;
  const episodes = replayEpisodes(history.rule, history, side);
  if (episodes.length < minAlerts) return undefined;
  const isCovered = (remaining: readonly Episode[], { alertId, fromMs, toMs }: Episode): boolean =>
    remaining.some((episode) => episode.alertId === alertId && episode.fromMs <= toMs && episode.toMs >= fromMs);
  const acknowledgedEpisodes = episodes.filter(({ alertId, fromMs, toMs }) =>
    history.acknowledged.some(
      (each) => each.alertId === alertId && each.startedAtMs >= fromMs && each.startedAtMs <= toMs,
    ),
  );
  const peaks = episodes.map(({ peak }) => side * peak).sort((left, right) => left - right);
  const values = quantiles.map((quantile) =>
    roundAway(side * (peaks[Math.floor(quantile * (peaks.length - 1))] ?? 0), side),
  );
  for (const value of [...new Set(values)].filter((value) => side * value > side * currentValue)) {
    const remaining = replayEpisodes(replaceThreshold(history.rule, value), history, side);
    const retainsAcknowledged = acknowledgedEpisodes.every((episode) => isCovered(remaining, episode));
    if (retainsAcknowledged && remaining.length <= maxRetainedShare * episodes.length)
      return { value, before: episodes.length, after: remaining.length, acknowledged: acknowledgedEpisodes.length };
  }
  return undefined;
};

export const suggestThreshold = (history: RuleHistory, days: number): Suggestion | undefined => {
  const betterThreshold = findBetterThreshold(history);
  if (betterThreshold === undefined || history.rule.condition.kind !== 'threshold') return undefined;
  const { rule } = history;
  const { value, before, after, acknowledged } = betterThreshold;
  const [{ operator = 'above', value: currentValue = 0 } = {}] = history.rule.condition.thresholds;
  const acknowledgedText =
    acknowledged === 0 ? 'nobody acknowledged one' : `none of the ${acknowledged} acknowledged alerts would be lost`;
  const { id, version, ...fields } = replaceThreshold(rule, value);
  return {
    kind: 'noisy-rule',
    subject: id,
    title: `Change the threshold of ${rule.name}`,
    weight: before,
    evidence: `${rule.name} fired ${before} times in the last ${days} days with the threshold ${operator} ${currentValue}; with the same values, ${operator} ${value} would have fired ${after} times`,
    effect: `${before} → ${after} alerts in ${days} days, ${acknowledgedText}`,
    request: {
      method: 'PUT',
      path: `/api/v2/alerts/rules/${id}`,
      headers: { 'if-match': `"${version}"` },
      body: AlertRuleFields.parse(fields),
    },
  };
};
