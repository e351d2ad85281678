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
import type { listShifts } from '../../../api/groups/incidents/shifts.ts';
import type { addIncidentNote, getIncidentTimeline } from '../../../api/groups/incidents/timeline.ts';
import type { EscalationPolicyFields } from '../../../schemas/resources/escalation-policy.ts';
import type { IncidentFields } from '../../../schemas/resources/incident.ts';
import {
  declareCall,
  declareCreateCall,
  declareListCall,
  declareReadCall,
  declareReplaceCall,
  declareUpdateCall,
  type ResourceView,
  type ResponseBody,
} from '../../client/call.ts';

export const incidentsCall = declareListCall<typeof incidentResource>('/api/incidents');
export const incidentCall = declareReadCall<typeof incidentResource>('/api/incidents/{id}');
export const declareIncidentCall = declareCreateCall<typeof incidentResource, typeof IncidentFields>('/api/incidents');
export const timelineCall = declareCall<typeof getIncidentTimeline>('GET', '/api/incidents/{id}/timeline');
export const addNoteCall = declareCall<typeof addIncidentNote>('POST', '/api/incidents/{id}/timeline');
export const acknowledgeIncidentCall = declareCall<typeof acknowledgeIncident>(
  'POST',
  '/api/incidents/{id}/acknowledge',
);
export const resolveIncidentCall = declareCall<typeof resolveIncident>('POST', '/api/incidents/{id}/resolve');
export const reopenIncidentCall = declareCall<typeof reopenIncident>('POST', '/api/incidents/{id}/reopen');
export const updateIncidentCall = declareUpdateCall<typeof incidentResource, Partial<z.input<typeof IncidentFields>>>(
  '/api/incidents/{id}',
);

export const incidentMetricsCall = declareCall<typeof getIncidentMetrics>('GET', '/api/incidents/metrics');
export const postmortemCall = declareCall<typeof getIncidentPostmortem>('GET', '/api/incidents/{id}/postmortem');
export const setPostmortemCall = declareCall<typeof setIncidentPostmortem>('PUT', '/api/incidents/{id}/postmortem');
export const calendarFeedsCall = declareCall<typeof listCalendarFeeds>('GET', '/api/on-call/calendar-feeds');
export const pagesCall = declareCall<typeof listIncidentPages>('GET', '/api/incidents/pages');
export const schedulesCall = declareListCall<typeof scheduleResource>('/api/on-call/schedules');
export const shiftsCall = declareCall<typeof listShifts>('GET', '/api/on-call/schedules/{id}/shifts');
export const escalationPoliciesCall = declareListCall<typeof escalationPolicyResource>(
  '/api/on-call/escalation-policies',
);
export const escalationPolicyCall = declareCall<typeof getEscalationPolicy>(
  'GET',
  '/api/on-call/escalation-policies/{id}',
);
export const createEscalationPolicyCall = declareCreateCall<
  typeof escalationPolicyResource,
  typeof EscalationPolicyFields
>('/api/on-call/escalation-policies');
export const replaceEscalationPolicyCall = declareReplaceCall<
  typeof escalationPolicyResource,
  typeof EscalationPolicyFields
>('/api/on-call/escalation-policies/{id}');

export type EscalationPolicy = ResourceView<typeof escalationPolicyResource>;
export type Postmortem = ResponseBody<typeof getIncidentPostmortem>;
export type MergeSuggestion = ResponseBody<typeof getIncidentTimeline>['mergeSuggestions'][number];
export type TimelineEntry = ResponseBody<typeof getIncidentTimeline>['items'][number];
export type IncidentMetrics = ResponseBody<typeof getIncidentMetrics>;
export type Incident = ResourceView<typeof incidentResource>;
