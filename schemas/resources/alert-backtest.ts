import type { AlertTransition } from '../alerts.ts';
import { defineCollection } from '../ports/documents.ts';

/** A backtest: a rule evaluated over past time, and its alerts. */
export interface AlertBacktest {
  /** The rule as the caller wrote it, in the form of stored rules. */
  readonly rule: { readonly name: string; readonly condition: { readonly kind: string } };
  readonly queryVersion: number;
  /** ID of the saved rule, or the backtest's ID if the rule is not saved. */
  readonly ruleId: string;
  readonly ruleVersion: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly status: 'running' | 'finished' | 'failed';
  /** Due time of the last evaluation so far. */
  readonly doneMs: number;
  readonly evaluations: number;
  /** Number of failed evaluations. */
  readonly failed: number;
  readonly transitions: readonly AlertTransition[];
  /** Whether the number of transitions exceeded the stored maximum. */
  readonly isCut: boolean;
  readonly lastError: string;
  /** State of the evaluation. */
  readonly state: object;
}

export const alertBacktests = defineCollection<AlertBacktest>({ name: 'alert-backtests' });
