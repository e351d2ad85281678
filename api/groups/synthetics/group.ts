import { syntheticLocationContacts, syntheticLocations } from '../../../schemas/resources/synthetic-location.ts';
import { syntheticVariables } from '../../../schemas/resources/synthetic-variable.ts';
import { defineGroup } from '../define-group.ts';
import { checkResource } from './check.ts';
import { createLocation, deleteLocation, listLocations } from './locations.ts';
import { deleteVariable, listVariables, setVariable } from './variables.ts';

export const syntheticsGroup = defineGroup({
  name: 'synthetics',
  summary: 'Checks that probe services from outside, their runs and locations.',
  resources: [checkResource],
  operations: [listLocations, createLocation, deleteLocation, listVariables, setVariable, deleteVariable],
  collections: [syntheticLocations, syntheticLocationContacts, syntheticVariables],
  planned: [
    ['POST /api/synthetics/checks/{id}/run', 'editor', 'run now'],
    ['GET /api/synthetics/checks/{id}/runs', 'viewer', 'runs with timings per phase'],
    ['GET /api/synthetics/checks/{id}/uptime', 'viewer', 'uptime per period and location'],
    ['GET /api/synthetics/export', 'viewer', 'checks as YAML'],
    ['POST /api/synthetics/import', 'editor', 'YAML; dryRun shows the difference'],
    ['GET /api/synthetics/downtimes', 'viewer', 'planned downtimes'],
    ['POST /api/synthetics/downtimes', 'editor', 'create'],
    ['DELETE /api/synthetics/downtimes/{id}', 'editor', 'delete'],
  ],
});
