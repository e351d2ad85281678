/** `/ws/live-tail`: records as they arrive. */
import { z } from 'zod';
import { filterOf, filterParameters } from '../../queries/live-tail/filter.ts';
import { maxTokenCharacters, positionsIn } from '../../queries/live-tail/positions.ts';
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
    .describe('How many of the last matching records to begin with; with resume it is passed over'),
  resume: z
    .string()
    .max(maxTokenCharacters)
    .regex(/^[\w-]+$/, 'is not a position of this live tail')
    .optional()
    .describe('Position of the last frame of a connection before: go on after it'),
});

/** Live tail of log records and spans. */
export const liveTail = defineStream({
  path: '/ws/live-tail',
  operationId: 'liveTail',
  summary: 'Records as they arrive',
  description:
    'Sends the log records or spans that match, several a frame, as soon as they are on the bus: the last ones first where `last` asks for ' +
    'them, then new ones as they come. A client that reads slowly is told how many it missed. A heartbeat comes after ten seconds without a record.',
  rights: { parameter: 'signal', operations: { logs: 'GET /api/logs', spans: 'GET /api/traces' } },
  query: Query,
  messages: {
    logs: { summary: 'Log records (signal=logs)', payload: LogsFrame },
    spans: { summary: 'Spans (signal=spans)', payload: SpansFrame },
    heartbeat: { summary: 'No record came for a while, or what is told of them changed', payload: HeartbeatFrame },
  },
  maxConnections: { ofCaller: 20, ofTenant: 500, ofAll: 2_000 },
  async open({ caller, query }, { liveTails }) {
    const { signal, last, resume, projectId, scope } = query;
    return liveTails.open({
      tenantId: caller.tenantId,
      projectId: scope === 'account' ? undefined : projectId,
      filter: filterOf(query),
      shards: caller.organization.shards,
      last,
      resume: resume === undefined ? undefined : positionsIn(resume, signal),
    });
  },
});
