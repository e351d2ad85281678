/**
 * Users' decisions about security signals. Signals without a decision have no document; the ID is that of the signal.
 */
import { defineCollection } from '../ports/documents.ts';
import { caseResolutions } from './security-case.ts';

export const signalStates = ['open', 'acknowledged', 'closed'] as const;
export type SignalState = (typeof signalStates)[number];

/** Verdicts of a closed signal, the same as the resolutions of a case. */
export const signalVerdicts = caseResolutions;

export interface SignalTriage {
  readonly state: SignalState;
  readonly assigneeId: string | null;
  /** Verdict of a closed signal. */
  readonly verdict: (typeof signalVerdicts)[number] | null;
  readonly reason: string;
  /** Time of the last state change. */
  readonly changedAt: string;
}

export const signalTriages = defineCollection<SignalTriage>({
  name: 'signal-triages',
  indexes: [['state'], ['assigneeId']],
});
