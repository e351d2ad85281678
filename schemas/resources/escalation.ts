/** Where the escalation of each incident stands, and what it did so far. */
import { defineCollection } from '../ports/documents.ts';
import type { IncidentState } from './incident.ts';

/** Where the escalation of an incident stands. */
export interface Escalation {
  readonly status: IncidentState;
  /** Of the step that comes next, both from 0. */
  readonly round: number;
  readonly step: number;
  /** When it is due; `null` after the last. */
  readonly dueMs: number | null;
  readonly acknowledgedMs: number | null;
  /** Whether a step has reached anybody so far. */
  readonly reached: boolean;
}

/** Where a page opened something that only an end closes: a channel, or a contact of a person. */
export interface PageOpening {
  readonly channelId: string;
  /** Whose contact it is; `null` for a channel of the organization. */
  readonly userId: string | null;
}

/** What projects were told of an incident last. */
export interface IncidentNotification {
  /** When it opened, or was reopened last. */
  readonly since: string;
  readonly what: 'opened' | 'resolved';
}

/** The id is the incident's. */
interface StoredEscalation {
  /** What is escalated: the incident since it opened, or reopened, by one policy. Another one begins anew. */
  readonly key: string;
  readonly state: Escalation;
  /** Those that are not closed yet. Absent where an earlier version wrote it last. */
  readonly openings?: readonly PageOpening[];
  /** Absent where an earlier version wrote it last. */
  readonly notified?: IncidentNotification | undefined;
}
export const escalations = defineCollection<StoredEscalation>({ name: 'escalations' });

/** Whom a page is for. */
export interface PageReceiver {
  readonly kind: 'person' | 'channel';
  readonly id: string;
}

/** One thing that escalation did, for the timeline: a page that was queued, or why a step paged nobody. */
export interface EscalationAction {
  readonly incidentId: string;
  readonly at: string;
  readonly kind: 'page' | 'step-skipped' | 'owners-paged' | 'acknowledgement-timed-out' | 'nobody-reached';
  readonly round: number;
  /** `null` for pages of the owners, and for what is about no step. */
  readonly step: number | null;
  readonly reason: 'outside-hours' | 'nobody-on-call' | null;
  /** Of a page; its id is that of the delivery. `contact` is what the person calls the contact that is told. */
  readonly to: (PageReceiver & { readonly name: string; readonly contact?: string }) | null;
}
export const escalationActions = defineCollection<EscalationAction>({
  name: 'escalation-deeds',
  indexes: [['incidentId'], ['at']],
});
