import { syntheticAskedRuns } from '../../../schemas/resources/synthetic-asked-run.ts';
import { syntheticBeatTokens } from '../../../schemas/resources/synthetic-beat-token.ts';
import { syntheticLocations, syntheticProbeContacts } from '../../../schemas/resources/synthetic-location.ts';
import { syntheticPictures } from '../../../schemas/resources/synthetic-picture.ts';
import { syntheticChecksTold, syntheticSuspects } from '../../../schemas/resources/synthetic-told.ts';
import { syntheticVariables } from '../../../schemas/resources/synthetic-variable.ts';
import { defineGroup } from '../define-group.ts';
import { exportChecks, importChecks } from './as-code.ts';
import { checkResource } from './check.ts';
import { createDowntime, deleteDowntime, listDowntimes } from './downtimes.ts';
import { createLocation, deleteLocation, listLocations } from './locations.ts';
import { listPictures } from './pictures.ts';
import { getProbeWork, sendProbePicture, sendProbeResults } from './probe.ts';
import { renewBeatToken } from './renew-beat-token.ts';
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
    renewBeatToken,
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
    syntheticAskedRuns,
    syntheticChecksTold,
    syntheticSuspects,
    syntheticBeatTokens,
    syntheticPictures,
  ],
});
