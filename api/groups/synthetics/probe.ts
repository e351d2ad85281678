import { z } from 'zod';
import {
  ProbeAlarm,
  ProbeName,
  ProbePicture,
  ProbeReport,
  ProbeResult,
  Work,
} from '../../../schemas/synthetic-work.ts';
import { acceptResults } from '../../../subjects/synthetics/accept.ts';
import { requestConfirmationRuns } from '../../../subjects/synthetics/confirmation-runs.ts';
import { storeScreenshot } from '../../../subjects/synthetics/pictures.ts';
import { createWork } from '../../../subjects/synthetics/work.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { authenticateLocation } from './probe-token.ts';

/** Rate limit for the probes at one address: a few requests per second, with a burst when they reconnect after an outage. */
const probeRateLimit = { rate: 20, burst: 200 };

export const getProbeWork = defineOperation({
  method: 'POST',
  path: '/api/synthetics/probe/work',
  operationId: 'getSyntheticProbeWork',
  summary: 'Get the runs for a probe of a location; requires the token of the location',
  role: 'none',
  auditExemption: 'probes poll every few seconds, which changes only the time of their last contact',
  limit: probeRateLimit,
  body: z.strictObject({
    probe: ProbeName,
    digest: z.string().max(128).optional(),
    ...ProbeReport.shape,
  }),
  response: Work,
  async handler({ body, request }, { documents, clock, secretBox }) {
    const { tenantId, id } = await authenticateLocation(request, { documents, secretBox });
    return createWork(documents.forTenant(tenantId), { ...body, location: id, nowMs: clock.now() }, secretBox);
  },
});

export const sendProbeResults = defineOperation({
  method: 'POST',
  path: '/api/synthetics/probe/results',
  operationId: 'sendSyntheticProbeResults',
  summary: 'Submit results of assigned runs of a location; durable after the response, and repeats count once',
  role: 'none',
  auditExemption: 'results are telemetry',
  limit: probeRateLimit,
  maxBodyBytes: 8 * 1024 * 1024,
  body: z.strictObject({
    results: z.array(ProbeResult).max(200),
    alarms: z.array(ProbeAlarm).max(200).default([]).describe('Failures, which other locations confirm immediately'),
  }),
  response: z.strictObject({
    accepted: z.int(),
    refused: z.array(z.strictObject({ index: z.int(), reason: z.string() })),
  }),
  async handler({ body, request }, { documents, clock, secretBox, syntheticRuns }) {
    const { tenantId, id } = await authenticateLocation(request, { documents, secretBox });
    const origin = { tenantId, location: id, nowMs: clock.now() };
    const { runs, rejected } = await acceptResults(documents.forTenant(tenantId), body.results, origin);
    await syntheticRuns.publish(...runs);
    await requestConfirmationRuns(documents.forTenant(tenantId), body.alarms, origin);
    return { accepted: body.results.length - rejected.length, refused: [...rejected] };
  },
});

export const sendProbePicture = defineOperation({
  method: 'POST',
  path: '/api/synthetics/probe/pictures',
  operationId: 'sendSyntheticProbePicture',
  summary: 'Submit the page picture of an assigned run; stored until a later run with the same outcome',
  role: 'none',
  auditExemption: 'pictures are telemetry',
  limit: probeRateLimit,
  body: ProbePicture,
  response: z.strictObject({ reason: z.string().describe('Why the picture was not stored; empty if it was stored') }),
  async handler({ body, request }, { documents, clock, secretBox }) {
    const { tenantId, id } = await authenticateLocation(request, { documents, secretBox });
    const rejection = await storeScreenshot(documents.forTenant(tenantId), body, { location: id, nowMs: clock.now() });
    return { reason: rejection ?? '' };
  },
});
