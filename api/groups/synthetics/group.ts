import { syntheticHeartbeatTokens } from '../../../schemas/resources/synthetic-heartbeat-token.ts';
import { syntheticLocations, syntheticProbeContacts } from '../../../schemas/resources/synthetic-location.ts';
import { syntheticCheckNotifications, syntheticSuspects } from '../../../schemas/resources/synthetic-notification.ts';
import { syntheticPictures } from '../../../schemas/resources/synthetic-picture.ts';
import { syntheticRunRequests } from '../../../schemas/resources/synthetic-run-request.ts';
import { syntheticVariables } from '../../../schemas/resources/synthetic-variable.ts';
import { defineGroup } from '../define-group.ts';
import { exportChecks, importChecks } from './as-code.ts';
import { checkResource } from './check.ts';
import { createDowntime, deleteDowntime, listDowntimes } from './downtimes.ts';
import { createLocation, deleteLocation, listLocations } from './locations.ts';
import { listPictures } from './pictures.ts';
import { getProbeWork, sendProbePicture, sendProbeResults } from './probe.ts';
import { renewHeartbeatToken } from './renew-heartbeat-token.ts';
import { getUptime, listRuns } from './results.ts';
import { runCheckNow, tryCheck } from './run-now.ts';
import { deleteVariable, listVariables, setVariable } from './variables.ts';

export const syntheticsGroup = defineGroup({
  name: 'synthetics',
  summary: 'Checks that probe services from outside, their runs and locations.',
  resources: [checkResource],
  operations: [
    listLocations,
    createLocation,
    deleteLocation,
    listVariables,
    setVariable,
    deleteVariable,
    runCheckNow,
    tryCheck,
    renewHeartbeatToken,
    listRuns,
    getUptime,
    listPictures,
    exportChecks,
    importChecks,
    listDowntimes,
    createDowntime,
    deleteDowntime,
    getProbeWork,
    sendProbeResults,
    sendProbePicture,
  ],
  collections: [
    syntheticLocations,
    syntheticProbeContacts,
    syntheticVariables,
    syntheticRunRequests,
    syntheticCheckNotifications,
    syntheticSuspects,
    syntheticHeartbeatTokens,
    syntheticPictures,
  ],
});
