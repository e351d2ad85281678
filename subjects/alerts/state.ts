/** What is kept of a rule between its evaluations. JSON, and small: groups about which there is nothing to remember are not in it. */
import { createHash } from 'node:crypto';
import type { AlertSeverity, AlertState } from '../../schemas/alerts.ts';

export type Labels = Readonly<Record<string, string>>;

/** A value beside the threshold that it crosses, or does not. */
export interface Compared {
  /** The value in the unit of the threshold: `2.5 s`. */
  readonly text: string;
  /** Such as `above 1 s`; empty where every value counts. */
  readonly threshold: string;
  /** The threshold in the unit of the value; null where every value counts. */
  readonly limit: number | null;
}

/** One alert: of a group of labels, or of the rule itself where its evaluation fails or has no data. */
export interface AlertMemo {
  /** Of the group. */
  readonly labels: Labels;
  readonly state: AlertState;
  readonly severity: AlertSeverity;
  /** When it came to be pending, or firing where it never was. */
  readonly sinceMs: number;
  /** Since when it fires; absent while it never did. */
  readonly firedAtMs?: number;
  /** Since when the condition holds no more, while it keeps firing. */
  readonly clearedAtMs?: number;
  /** When the group last had data. */
  readonly seenMs: number;
  readonly value: number | null;
  /** As the condition held last: what is told of the alert, its end too. Absent where it was kept by an earlier version, or never held. */
  readonly held?: { readonly value: number | null; readonly compared?: Compared };
}

export interface RuleState {
  /** Of the part of the rule that decides which groups there are: alerts of another one end. */
  readonly form: string;
  /** By key. */
  readonly alerts: Readonly<Record<string, AlertMemo>>;
}

export const emptyState = (): RuleState => ({ form: '', alerts: {} });

const hash = (...parts: readonly unknown[]): string =>
  createHash('sha1').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);

const sorted = (labels: Labels): readonly (readonly [string, string])[] =>
  Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1));

/** The key of a group within its rule. */
export const groupKey = (labels: Labels): string => {
  const names = Object.keys(labels);
  return names.length === 0 ? '' : hash(names.length === 1 ? [[names[0], labels[names[0] as string]]] : sorted(labels));
};

/** The key of the alert that tells that the rule's query fails, or has no data. */
export const problemKey = '!';

/** The id of an alert: the same for one rule and group for ever. */
export const alertIdOf = (ruleId: string, key: string): string => hash('alert', ruleId, key);

/** The id of a transition: the same when an evaluation is repeated. */
export const transitionIdOf = (alertId: string, atMs: number, to: string): string =>
  hash('transition', alertId, atMs, to);

/** What decides which groups a rule has. */
export const formOf = (condition: object): string => {
  const { kind, query, groupBy, rules } = condition as Record<string, unknown>;
  return hash('form', kind, query, groupBy, rules);
};
