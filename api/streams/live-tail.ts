/** `/ws/live-tail`: records as they arrive. */
import { z } from 'zod';
import { buildFilter, filterParameters } from '../../queries/live-tail/filter.ts';
import { decodeToken, maxTokenCharacters } from '../../queries/live-tail/positions.ts';
import { projectScopeParameters } from '../../queries/project-scope.ts';
import { defineStream } from '../kernel/stream.ts';
import { HeartbeatFrame, LogsFrame, SpansFrame } from './frame.ts';

const Query = z.strictObject({
  ...filterParameters,
  ...projectScopeParameters,
  last: z.coerce
    .number({ error: 'must be one whole number from 0 to 1000' })
    .int()
    .min(0)
    .max(1000)
    .default(0)
    .describe('Number of the latest matching records that are sent first; ignored with resume'),
  resume: z
    .string()
    .max(maxTokenCharacters)
    .regex(/^[\w-]+$/, 'is not a position of this live tail')
    .optional()
    .describe('Position of the last frame of a previous connection: continue after it'),
});

/** Live tail of log records and spans */
export const liveTail = defineStream({
  path: '/ws/live-tail',
  operationId: 'liveTail',
  summary: 'Stream records as they arrive',
  description:
    'Sends matching log records or spans, several per frame, as soon as they are on the bus: first the last ones if `last` is given, then new ones as they arrive. A slow client receives the number of missed records. A heartbeat follows after ten seconds without a record.',
  rights: { parameter: 'signal', operations: { logs: 'GET /api/logs', spans: 'GET /api/traces' } },
  query: Query,
  messages: {
    logs: { summary: 'Log records (signal=logs)', payload: LogsFrame },
    spans: { summary: 'Spans (signal=spans)', payload: SpansFrame },
    heartbeat: { summary: 'No record arrived for a while, or the state changed', payload: HeartbeatFrame },
  },
  maxConnections: { ofCaller: 20, ofTenant: 500, ofAll: 2_000 },
  async open({ caller, query }, { liveTails }) {
    const { signal, last, resume, projectId, scope } = query;
    return liveTails.open({
      tenantId: caller.tenantId,
      projectId: scope === 'account' ? undefined : projectId,
      filter: buildFilter(query),
      shards: caller.organization.shards,
      last,
      resume: resume === undefined ? undefined : decodeToken(resume, signal),
    });
  },
});
