import type { AlertTransition } from '../alerts.ts';
import { defineCollection } from '../ports/documents.ts';

/** A rule that is run over past time, and what it would have told. */
export interface AlertBacktest {
  /** What callers wrote of the rule; read as stored rules are. */
  readonly rule: { readonly name: string; readonly condition: { readonly kind: string } };
  readonly queryVersion: number;
  /** Of the saved rule that it is; its own id for one that is not saved. */
  readonly ruleId: string;
  readonly ruleVersion: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly status: 'running' | 'finished' | 'failed';
  /** Up to which due time it came. */
  readonly doneMs: number;
  readonly evaluations: number;
  /** Evaluations that failed. */
  readonly failed: number;
  readonly transitions: readonly AlertTransition[];
  /** Whether there were more transitions than are kept. */
  readonly isCut: boolean;
  readonly lastError: string;
  /** What evaluation remembers. */
  readonly state: object;
}

export const alertBacktests = defineCollection<AlertBacktest>({ name: 'alert-backtests' });
