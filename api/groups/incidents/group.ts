import { onCallVersions } from '../../../schemas/resources/on-call-schedule.ts';
import { defineGroup } from '../define-group.ts';
import { escalationPolicyResource } from './escalation-policies.ts';
import { acknowledgeIncident, incidentResource, reopenIncident, resolveIncident } from './incident.ts';
import { addOverride, deleteOverride } from './overrides.ts';
import { replaceSchedule, scheduleResource } from './schedules.ts';
import { getOnCall, listShifts } from './shifts.ts';

export const incidentsGroup = defineGroup({
  name: 'incidents',
  summary: 'Incidents, on-call schedules, escalation policies and maintenance windows.',
  resources: [incidentResource, scheduleResource, escalationPolicyResource],
  operations: [
    acknowledgeIncident,
    resolveIncident,
    reopenIncident,
    replaceSchedule,
    addOverride,
    deleteOverride,
    listShifts,
    getOnCall,
  ],
  collections: [onCallVersions],
  planned: [
    ['GET /api/incidents/{id}/timeline', 'viewer', 'timeline'],
    ['POST /api/incidents/{id}/timeline', 'editor', 'add an entry'],
    ['GET /api/incidents/{id}/postmortem', 'viewer', 'postmortem'],
    ['PUT /api/incidents/{id}/postmortem', 'editor', 'write it'],
    ['GET /api/incidents/metrics', 'viewer', 'MTTA, MTTR, counts'],
    ['GET /api/maintenance-windows', 'viewer', 'windows'],
    ['POST /api/maintenance-windows', 'editor', 'create, once or recurring'],
    ['GET /api/maintenance-windows/{id}', 'viewer', 'one'],
    ['PUT /api/maintenance-windows/{id}', 'editor', 'change'],
    ['DELETE /api/maintenance-windows/{id}', 'editor', 'delete'],
  ],
});
