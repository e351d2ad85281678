/** What people decided about signals. There is a document only where somebody did; its id is the signal's. */
import { defineCollection } from '../ports/documents.ts';

export const signalStates = ['open', 'acknowledged', 'closed'] as const;
export type SignalState = (typeof signalStates)[number];

export const signalVerdicts = [
  'true-positive',
  'benign-true-positive',
  'false-positive',
  'duplicate',
  'other',
] as const;

export interface SignalTriage {
  readonly state: SignalState;
  readonly assigneeId: string | null;
  /** Of a closed one. */
  readonly verdict: (typeof signalVerdicts)[number] | null;
  readonly reason: string;
  /** When it got its state. */
  readonly changedAt: string;
}

export const signalTriages = defineCollection<SignalTriage>({
  name: 'signal-triages',
  indexes: [['state'], ['assigneeId']],
});
