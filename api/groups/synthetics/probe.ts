import { z } from 'zod';
import type { Documents, Stored } from '../../../schemas/ports/documents.ts';
import {
  probeTokenFormat,
  probeTokenHash,
  type SyntheticLocation,
  syntheticLocations,
} from '../../../schemas/resources/synthetic-location.ts';
import { ProbeName, ProbeResult, Work } from '../../../schemas/synthetic-work.ts';
import { acceptedRuns } from '../../../subjects/synthetics/accept.ts';
import { workOf } from '../../../subjects/synthetics/work.ts';
import { ApiError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { RequestFacts } from '../../request-facts.ts';

const wrongToken = (): ApiError =>
  new ApiError('UNAUTHENTICATED', 'the token of the location is wrong, or the location was deleted');

/** The location whose token the request has. It opens its work and takes its results, and nothing else. */
const locationOf = async (
  request: RequestFacts,
  documents: Documents,
): Promise<SyntheticLocation & Stored & { readonly tenantId: string }> => {
  const token = /^Bearer (\S+)$/i.exec(request.header('authorization'))?.[1] ?? '';
  if (!probeTokenFormat.isWellFormed(token)) throw wrongToken();
  for await (const location of documents.everywhere(syntheticLocations, { hash: probeTokenHash(token) }))
    return location;
  throw wrongToken();
};

/** Probes of one address: a few each second, and more where they come back after an outage. */
const limit = { rate: 20, burst: 200 };

export const getProbeWork = defineOperation({
  method: 'POST',
  path: '/api/synthetics/probe/work',
  operationId: 'getSyntheticProbeWork',
  summary: 'What a probe of a location is to run; with the token of the location',
  role: 'none',
  unaudited: 'a probe asks every few seconds, and changes nothing but when it was heard from',
  limit,
  body: z.strictObject({ probe: ProbeName, digest: z.string().max(128).optional() }),
  response: Work,
  async handler({ body, request }, { documents, clock, secretBox }) {
    const { tenantId, id } = await locationOf(request, documents);
    return workOf(documents.of(tenantId), { ...body, location: id, nowMs: clock.now() }, secretBox);
  },
});

export const sendProbeResults = defineOperation({
  method: 'POST',
  path: '/api/synthetics/probe/results',
  operationId: 'sendSyntheticProbeResults',
  summary: 'Results of assigned runs of a location; durable once answered, and a repeat counts once',
  role: 'none',
  unaudited: 'results are telemetry',
  limit,
  maxBodyBytes: 8 * 1024 * 1024,
  body: z.strictObject({ results: z.array(ProbeResult).max(200) }),
  response: z.strictObject({
    accepted: z.int(),
    refused: z.array(z.strictObject({ index: z.int(), reason: z.string() })),
  }),
  async handler({ body, request }, { documents, clock, syntheticRuns }) {
    const { tenantId, id } = await locationOf(request, documents);
    const from = { tenantId, location: id, nowMs: clock.now() };
    const { runs, refused } = await acceptedRuns(documents.of(tenantId), body.results, from);
    await syntheticRuns.publish(...runs);
    return { accepted: runs.length, refused: [...refused] };
  },
});
