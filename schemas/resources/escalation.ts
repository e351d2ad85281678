/** Escalation status of each incident, and the actions so far. */
import { defineCollection } from '../ports/documents.ts';
import type { IncidentState } from './incident.ts';

/** Escalation status of an incident. */
export interface Escalation {
  readonly status: IncidentState;
  /** Round and step of the next step, both starting at 0. */
  readonly round: number;
  readonly step: number;
  /** Due time; `null` after the last step. */
  readonly dueMs: number | null;
  readonly acknowledgedMs: number | null;
  /** Whether any step has reached somebody so far. */
  readonly reached: boolean;
}

/** Target of a page that opened an item in an external service: a channel, or a contact of a user. */
export interface PageOpening {
  readonly channelId: string;
  /** Owner of the contact; `null` for a channel of the organization. */
  readonly userId: string | null;
}

/** Last notification of projects about an incident. */
export interface IncidentNotification {
  /** When the incident was opened or last reopened. */
  readonly since: string;
  /** Event of the notification. */
  readonly what: 'opened' | 'resolved';
}

/** The ID is that of the incident. */
interface StoredEscalation {
  /**
   * Key of the escalation: the incident since its last opening, and the policy. Another key restarts the escalation.
   */
  readonly key: string;
  readonly state: Escalation;
  /** Targets whose items are still open. Absent if an earlier version wrote the document last. */
  readonly openings?: readonly PageOpening[];
  /** Absent if an earlier version wrote the document last. */
  readonly notified?: IncidentNotification | undefined;
}
export const escalations = defineCollection<StoredEscalation>({ name: 'escalations' });

/** Recipient of a page. */
export interface PageReceiver {
  readonly kind: 'person' | 'channel';
  readonly id: string;
}

/** An escalation action for the timeline: a queued page, or the reason why a step paged nobody. */
export interface EscalationAction {
  readonly incidentId: string;
  readonly at: string;
  readonly kind: 'page' | 'step-skipped' | 'owners-paged' | 'acknowledgement-timed-out' | 'nobody-reached';
  readonly round: number;
  /** `null` for pages to the owners, and for actions without a step. */
  readonly step: number | null;
  readonly reason: 'outside-hours' | 'nobody-on-call' | null;
  /** Recipient of a page, whose ID is that of the delivery. `contact` is the user's name for the contact. */
  readonly to: (PageReceiver & { readonly name: string; readonly contact?: string }) | null;
}
/** The stored name is older than the term action. Processes of two versions use the collection during an upgrade. */
export const escalationActions = defineCollection<EscalationAction>({
  name: 'escalation-deeds',
  indexes: [['incidentId'], ['at']],
});
