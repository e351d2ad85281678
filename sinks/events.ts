import { eventsTable } from '../schemas/tables/events.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

export const events = defineValueSink({
  topic: topics.events,
  table: eventsTable,
  row: ({ tenantId, projectId, at, actor, details, ...event }) => ({
    ...event,
    tenant_id: tenantId,
    project_id: projectId,
    time: at,
    actor_type: actor.type,
    actor_id: actor.id,
    details: JSON.stringify(details),
  }),
});
