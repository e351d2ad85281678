import { z } from 'zod';
import {
  createManifest,
  listFormats,
  Manifest,
  manifestAgents,
  manifestFormats,
} from '../../../subjects/instrumentation/manifests.ts';
import { createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { buildEndpoints } from '../onboarding/endpoints.ts';

export const getManifest = defineOperation({
  method: 'GET',
  path: '/api/instrumentation/manifest',
  operationId: 'getInstrumentationManifest',
  summary:
    'Get the files that install an agent, with the endpoint of this installation and the license key as a secret',
  role: 'viewer',
  query: z.strictObject({
    agent: z.enum(manifestAgents).default('obi'),
    format: z.enum(manifestFormats).optional().describe('Default: the first format of the agent'),
  }),
  response: Manifest,
  handler({ query: { agent, format }, request }, { settings }) {
    const formats = listFormats(agent);
    const manifest = createManifest(
      agent,
      format ?? formats[0] ?? 'systemd',
      buildEndpoints(settings, request.host).otlpHttp,
    );
    if (manifest === undefined)
      throw createFieldError('format', `is not available for ${agent}: choose ${formats.join(', ')}`);
    return manifest;
  },
});
