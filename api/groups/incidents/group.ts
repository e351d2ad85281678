import { calendarFeeds } from '../../../schemas/resources/calendar-feed.ts';
import { escalationActions, escalations } from '../../../schemas/resources/escalation.ts';
import { incidentEvidence, incidentNotes, incidentPostmortems } from '../../../schemas/resources/incident.ts';
import { onCallGaps } from '../../../schemas/resources/on-call-gap.ts';
import { onCallVersions } from '../../../schemas/resources/on-call-schedule.ts';
import { defineGroup } from '../define-group.ts';
import { acknowledgeByLink } from './acknowledge-link.ts';
import { createCalendarFeed, getSharedCalendar, listCalendarFeeds, revokeCalendarFeed } from './calendar-feeds.ts';
import { escalationPolicyResource } from './escalation-policies.ts';
import { getEscalationPolicy } from './escalation-policy.ts';
import { acknowledgeIncident, incidentResource, reopenIncident, resolveIncident } from './incident.ts';
import { maintenanceWindowResource } from './maintenance-window.ts';
import { getIncidentMetrics } from './metrics.ts';
import { addOverride, deleteOverride } from './overrides.ts';
import { listIncidentPages } from './pages.ts';
import { getIncidentPostmortem, setIncidentPostmortem } from './postmortem.ts';
import { replaceSchedule, scheduleResource } from './schedules.ts';
import { getOnCall, listShifts } from './shifts.ts';
import { addIncidentNote, getIncidentTimeline } from './timeline.ts';

export const incidentsGroup = defineGroup({
  name: 'incidents',
  summary: 'Incidents, on-call schedules, escalation policies and maintenance windows.',
  resources: [incidentResource, scheduleResource, escalationPolicyResource, maintenanceWindowResource],
  operations: [
    acknowledgeIncident,
    acknowledgeByLink,
    resolveIncident,
    reopenIncident,
    getIncidentTimeline,
    addIncidentNote,
    getIncidentMetrics,
    listIncidentPages,
    getIncidentPostmortem,
    setIncidentPostmortem,
    replaceSchedule,
    addOverride,
    deleteOverride,
    getEscalationPolicy,
    listShifts,
    getOnCall,
    createCalendarFeed,
    listCalendarFeeds,
    revokeCalendarFeed,
    getSharedCalendar,
  ],
  collections: [
    onCallVersions,
    onCallGaps,
    calendarFeeds,
    incidentNotes,
    incidentEvidence,
    incidentPostmortems,
    escalations,
    escalationActions,
  ],
});
