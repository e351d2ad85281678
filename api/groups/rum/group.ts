import { sourceMapParts, sourceMaps } from '../../../schemas/resources/source-map.ts';
import { defineGroup } from '../define-group.ts';
import { listRumApplications } from './applications.ts';
import { listRumErrors } from './errors.ts';
import { listRumPages } from './pages.ts';
import { showReplay } from './replay.ts';
import { listRumResources } from './resources.ts';
import { showRumSession } from './session.ts';
import { listRumSessions } from './sessions.ts';
import { uploadSourceMaps } from './source-maps.ts';
import { listWebVitals } from './web-vitals.ts';

export const rumGroup = defineGroup({
  name: 'rum',
  summary: 'Sessions, pages, web vitals and errors of browsers.',
  entitlement: 'rum',
  reads: ['traces'],
  operations: [
    listRumApplications,
    listRumSessions,
    showRumSession,
    showReplay,
    listWebVitals,
    listRumErrors,
    listRumResources,
    listRumPages,
    uploadSourceMaps,
  ],
  collections: [sourceMaps, sourceMapParts],
});
