import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import { detectionRules } from '../../../schemas/resources/detection-rule.ts';
import { signalSeverities } from '../../../schemas/signals.ts';
import { toNullIfEmpty } from '../../../schemas/text.ts';
import { listRiskRules, RiskRule, readRiskEvents } from '../../../subjects/agents/risks.ts';
import type { StoredRule } from '../../../subjects/detections/deployment.ts';
import { parseEvents, readSignals, type StoredSignal } from '../../../subjects/detections/stored-signals.ts';
import { finishHistoryPage, historyParameters, parseHistoryPage } from '../../../subjects/events/history-page.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { readTriages, SignalView, toSignalView } from '../siem/signal-view.ts';

const RiskView = SignalView.extend({
  agentId: z.string().nullable(),
  agent: z.string().nullable(),
  sessionId: z.string().nullable(),
  turn: z.int().nullable(),
  eventId: z.string().nullable().describe('Event of the agent that matched last'),
  object: z.string().nullable().describe('Command, path, host or tool of that event'),
});

const severities = z
  .string()
  .max(128)
  .refine((text) => text.split(',').every((value) => (signalSeverities as readonly string[]).includes(value)), {
    message: `must be some of ${signalSeverities.join(',')}`,
  })
  .optional();

const readOwnRules = async (documents: Parameters<typeof iterateDocuments<StoredRule>>[0]): Promise<StoredRule[]> => {
  const rules: StoredRule[] = [];
  for await (const rule of iterateDocuments(documents)) rules.push(rule);
  return rules;
};

/** Records that matched, the last one first. */
const listRecordIds = (signal: StoredSignal): string[] =>
  parseEvents(signal)
    .map(({ recordId }) => recordId)
    .reverse();

/** Events may be this much older than the range of their signals. */
const marginNs = 86_400_000_000_000n;

export const listAgentRisks = defineOperation({
  method: 'GET',
  path: '/api/agentsight/risks',
  operationId: 'listAgentRisks',
  summary: 'List risks: security signals about agents, the newest first, and the rules that raise them',
  role: 'viewer',
  query: z.strictObject({
    ...historyParameters,
    projectId: projectScopeParameters.projectId,
    scope: projectScopeParameters.scope,
    severity: severities.describe('Severities, separated by commas'),
    suppressed: z.enum(['true']).optional().describe('true: include risks that an exception covers'),
  }),
  response: z.strictObject({
    items: z.array(RiskView),
    nextCursor: z.string().nullable(),
    rules: z.array(RiskRule).describe('Rules for events of agents'),
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const documents = ports.documents.forTenant(caller.tenantId);
    const page = parseHistoryPage('agent-risks', query, reader);
    const rules = listRiskRules(await readOwnRules(documents.collection(detectionRules)));
    const rows = await readSignals(
      reader,
      {
        ruleIds: rules.map(({ id }) => id),
        projectId: query.scope === 'account' ? undefined : query.projectId,
        severities: query.severity?.split(','),
        withSuppressed: query.suppressed === 'true',
      },
      page,
    );
    const { shown, nextCursor } = finishHistoryPage('agent-risks', rows, {
      ...page,
      limit: query.limit,
      getId: ({ id }) => id,
    });
    const [triages, events] = await Promise.all([
      readTriages(documents, shown),
      readRiskEvents(reader, shown.flatMap(listRecordIds), {
        from: page.range.from - marginNs,
        to: page.range.to + marginNs,
      }),
    ]);
    return {
      items: shown.map((signal) => {
        const event = listRecordIds(signal)
          .map((recordId) => events.get(recordId))
          .find((found) => found !== undefined);
        return {
          ...toSignalView(signal, triages.get(signal.id)),
          agentId: event?.agentId ?? null,
          agent: event?.agent ?? null,
          sessionId: event?.sessionId ?? null,
          turn: event?.turn ?? null,
          eventId: event?.id ?? null,
          object: toNullIfEmpty(event?.object.slice(0, 512) ?? ''),
        };
      }),
      nextCursor,
      rules,
    };
  },
});
