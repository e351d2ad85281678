/** What people decided about signals. There is a document only where somebody did; its id is the signal's. */
import { defineCollection } from '../ports/documents.ts';
import { caseResolutions } from './security-case.ts';

export const signalStates = ['open', 'acknowledged', 'closed'] as const;
export type SignalState = (typeof signalStates)[number];

/** What a closed signal was: as of a case. */
export const signalVerdicts = caseResolutions;

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
