import { defineGroup } from '../define-group.ts';

export const databasesGroup = defineGroup({
  name: 'databases',
  summary: 'Database instances and the statements that they run.',
  planned: [
    ['GET /api/databases', 'viewer', 'instances by engine'],
    ['GET /api/databases/engines', 'viewer', 'engines and the telemetry known for each'],
    ['GET /api/databases/{engine}', 'viewer', "one engine's instances and headline figures"],
    ['GET /api/databases/{engine}/timeseries', 'viewer', 'its series'],
    ['GET /api/databases/queries', 'viewer', 'normalised statements by time, calls, errors, from spans'],
  ],
});
