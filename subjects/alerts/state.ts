/**
 * State of a rule between its evaluations, stored as JSON. Groups without relevant state are omitted to keep it small.
 */
import { createHash } from 'node:crypto';
import type { AlertSeverity, AlertState } from '../../schemas/alerts.ts';

export type Labels = Readonly<Record<string, string>>;

/** A value and the threshold that was compared with it. */
export interface ThresholdComparison {
  /** The value in the unit of the threshold: `2.5 s`. */
  readonly text: string;
  /** Threshold such as `above 1 s`; empty if every value counts. */
  readonly threshold: string;
  /** The threshold in the unit of the value; null if every value counts. */
  readonly limit: number | null;
}

/** One alert: of a group of labels, or of the rule itself if its evaluation fails or has no data. */
export interface AlertMemo {
  /** Labels of the group. */
  readonly labels: Labels;
  readonly state: AlertState;
  readonly severity: AlertSeverity;
  /** Start of the pending state, or of the firing state if the alert was never pending. */
  readonly sinceMs: number;
  /** Start of the firing state; absent if the alert never fired. */
  readonly firedAtMs?: number;
  /** Since when the condition no longer holds, while the alert continues to fire. */
  readonly clearedAtMs?: number;
  /** When the group last had data. */
  readonly seenMs: number;
  readonly value: number | null;
  /**
   * Values when the condition last held, for notifications, including that of the end. Absent if an earlier version
   * stored the state, or if the condition never held.
   */
  readonly held?: { readonly value: number | null; readonly compared?: ThresholdComparison };
}

export interface RuleState {
  /** Hash of the parts of the rule that determine the groups: a different hash ends the alerts. */
  readonly form: string;
  /** Alerts by the key of their group. */
  readonly alerts: Readonly<Record<string, AlertMemo>>;
}

export const emptyState = (): RuleState => ({ form: '', alerts: {} });

const computeShortHash = (...parts: readonly unknown[]): string =>
  createHash('sha1').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);

const sortLabels = (labels: Labels): readonly (readonly [string, string])[] =>
  Object.entries(labels).sort(([left], [right]) => (left < right ? -1 : 1));

/** Returns the key of a group within its rule. */
export const toGroupKey = (labels: Labels): string => {
  const names = Object.keys(labels);
  return names.length === 0
    ? ''
    : computeShortHash(names.length === 1 ? [[names[0], labels[names[0] as string]]] : sortLabels(labels));
};

/** Key of the alert about a failed query or a lack of data. */
export const problemKey = '!';

/** Returns the ID of an alert, which is constant for a rule and group. */
export const createAlertId = (ruleId: string, key: string): string => computeShortHash('alert', ruleId, key);

/** Returns the ID of a transition, which is the same for a repeated evaluation. */
export const createTransitionId = (alertId: string, atMs: number, to: string): string =>
  computeShortHash('transition', alertId, atMs, to);

/** Returns the hash of the parts of a condition that determine the rule's groups. */
export const hashGrouping = (condition: object): string => {
  const { kind, query, groupBy, rules } = condition as Record<string, unknown>;
  return computeShortHash('form', kind, query, groupBy, rules);
};
