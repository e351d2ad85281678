/** API calls of the incidents area */
import type { z } from 'zod';
import type { listCalendarFeeds } from '../../../api/groups/incidents/calendar-feeds.ts';
import type { escalationPolicyResource } from '../../../api/groups/incidents/escalation-policies.ts';
import type { getEscalationPolicy } from '../../../api/groups/incidents/escalation-policy.ts';
import type {
  acknowledgeIncident,
  incidentResource,
  reopenIncident,
  resolveIncident,
} from '../../../api/groups/incidents/incident.ts';
import type { getIncidentMetrics } from '../../../api/groups/incidents/metrics.ts';
import type { listIncidentPages } from '../../../api/groups/incidents/pages.ts';
import type { getIncidentPostmortem, setIncidentPostmortem } from '../../../api/groups/incidents/postmortem.ts';
import type { scheduleResource } from '../../../api/groups/incidents/schedules.ts';
import type { addIncidentNote, getIncidentTimeline } from '../../../api/groups/incidents/timeline.ts';
import type { EscalationPolicyFields } from '../../../schemas/resources/escalation-policy.ts';
import type { IncidentFields } from '../../../schemas/resources/incident.ts';
import {
  type Answered,
  callOf,
  changeOf,
  creationOf,
  listOf,
  readingOf,
  replacementOf,
  type ViewOf,
} from '../../client/call.ts';

export const incidentsCall = listOf<typeof incidentResource>('/api/incidents');
export const incidentCall = readingOf<typeof incidentResource>('/api/incidents/{id}');
export const declareIncidentCall = creationOf<typeof incidentResource, typeof IncidentFields>('/api/incidents');
export const timelineCall = callOf<typeof getIncidentTimeline>('GET', '/api/incidents/{id}/timeline');
export const addNoteCall = callOf<typeof addIncidentNote>('POST', '/api/incidents/{id}/timeline');
export const acknowledgeCall = callOf<typeof acknowledgeIncident>('POST', '/api/incidents/{id}/acknowledge');
export const resolveCall = callOf<typeof resolveIncident>('POST', '/api/incidents/{id}/resolve');
export const reopenCall = callOf<typeof reopenIncident>('POST', '/api/incidents/{id}/reopen');
export const changeCall = changeOf<typeof incidentResource, Partial<z.input<typeof IncidentFields>>>(
  '/api/incidents/{id}',
);

export const metricsCall = callOf<typeof getIncidentMetrics>('GET', '/api/incidents/metrics');
export const postmortemCall = callOf<typeof getIncidentPostmortem>('GET', '/api/incidents/{id}/postmortem');
export const setPostmortemCall = callOf<typeof setIncidentPostmortem>('PUT', '/api/incidents/{id}/postmortem');
export const calendarFeedsCall = callOf<typeof listCalendarFeeds>('GET', '/api/on-call/calendar-feeds');
export const pagesCall = callOf<typeof listIncidentPages>('GET', '/api/incidents/pages');
export const schedulesCall = listOf<typeof scheduleResource>('/api/on-call/schedules');
export const escalationPoliciesCall = listOf<typeof escalationPolicyResource>('/api/on-call/escalation-policies');
export const policyCall = callOf<typeof getEscalationPolicy>('GET', '/api/on-call/escalation-policies/{id}');
export const createPolicyCall = creationOf<typeof escalationPolicyResource, typeof EscalationPolicyFields>(
  '/api/on-call/escalation-policies',
);
export const replacePolicyCall = replacementOf<typeof escalationPolicyResource, typeof EscalationPolicyFields>(
  '/api/on-call/escalation-policies/{id}',
);

export type Policy = ViewOf<typeof escalationPolicyResource>;
export type Postmortem = Answered<typeof getIncidentPostmortem>;
export type MergeSuggestion = Answered<typeof getIncidentTimeline>['mergeSuggestions'][number];
export type Metrics = Answered<typeof getIncidentMetrics>;
export type Incident = ViewOf<typeof incidentResource>;
