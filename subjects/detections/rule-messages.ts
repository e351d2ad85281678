/** Messages between `rule-threads.ts` and its threads. */
import type { DetectionSignal } from '../../schemas/signals.ts';
import type { DeploymentSource } from './deployment.ts';
import type { DetectedRecord } from './detect.ts';
import type { RecordValues } from './record-event.ts';
import type { Match } from './rule-set.ts';

/** A request of the main thread to a worker thread */
export type RuleRequest = { readonly id: number } & (
  | { readonly deploy: DeploymentSource; readonly nowMs: number }
  | { readonly records: readonly DetectedRecord[] }
  | { readonly end: true }
  | { readonly events: readonly RecordValues[] }
);

/** A match without its rule. */
export type EventMatch = Pick<Match, 'ruleId' | 'fields'>;

export interface RuleReply {
  readonly id: number;
  readonly signals?: readonly DetectionSignal[];
  readonly matches?: readonly (readonly EventMatch[])[];
}
