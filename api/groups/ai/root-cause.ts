import { z } from 'zod';
import { type ProjectScope, projectScopeParameters } from '../../../queries/project-scope.ts';
import { runWithoutCost } from '../../../queries/run.ts';
import { getNodeDisplayName, type IncidentContext } from '../../../subjects/causes/incident-context.ts';
import { readIncidentContext } from '../../../subjects/causes/read-incident-context.ts';
import {
  type Causes,
  causeKinds,
  findCauses,
  minScore,
  type ScoredCause,
} from '../../../subjects/causes/score-causes.ts';
import { scoreSourceChanges } from '../../../subjects/causes/source-changes.ts';
import type { Caller } from '../../callers/caller.ts';
import { requireKnownService } from '../../kernel/known-services.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { readReporterChanges } from './shown-changes.ts';
import { readSymptom, type SymptomRequest, symptomFields } from './symptom.ts';

const Evidence = z.strictObject({
  text: z.string(),
  link: z.string().describe('Path of the API with the records that show it; empty if there are none'),
});

const Cause = z.strictObject({
  kind: z.enum(causeKinds),
  at: z
    .string()
    .describe(
      'The affected object: the node of a service map, such as service:cart, a host, or the alert rule, detector, plan or alert routing that reports the symptom',
    ),
  begin: z.iso.datetime(),
  title: z.string(),
  link: z.string().describe('Link to its page; empty for none'),
  score: z.number().describe('From 0 to 1: how well it explains the symptom. It is reported as a cause from 0.3 on'),
  evidence: z.array(Evidence).describe('Evidence for it'),
  counterEvidence: z.array(Evidence).describe('Evidence against it'),
  path: z.array(z.string()).describe('Calls from the symptom to it; may be empty'),
});

const toCauseView = ({
  kind,
  at,
  beginMs,
  title,
  link,
  score,
  evidence,
  counterEvidence,
  path,
}: ScoredCause): z.output<typeof Cause> => ({
  kind,
  at,
  title,
  link,
  score: Number(score.toFixed(3)),
  begin: new Date(beginMs).toISOString(),
  evidence: [...evidence],
  counterEvidence: [...counterEvidence],
  path: path.map(getNodeDisplayName),
});

/** Merges the causes on the path of calls with the configuration changes that explain the symptom. */
const toResult = (
  pathCauses: Pick<Causes, 'causes' | 'sharesOnOthers' | 'reason'>,
  scoredChanges: readonly ScoredCause[],
) => {
  const causes = [...pathCauses.causes, ...scoredChanges.filter(({ score }) => score >= minScore)];
  const otherCandidates = [
    ...scoredChanges.filter(({ score }) => score < minScore),
    ...pathCauses.sharesOnOthers,
  ].slice(0, 20);
  return {
    state: causes.length > 0 ? ('found' as const) : ('inconclusive' as const),
    reason: causes.length > 0 ? null : pathCauses.reason,
    causes: causes.map(toCauseView),
    others: otherCandidates.map(toCauseView),
  };
};

export const RootCause = z.strictObject({
  state: z.enum(['found', 'inconclusive']).describe('inconclusive: no known cause explains it, for the given reason'),
  reason: z.string().nullable(),
  symptom: z.strictObject({
    services: z.array(z.string()),
    noticed: z.iso.datetime(),
    begin: z.iso.datetime().nullable().describe('Time when requests began to degrade; null if they did not'),
    degradations: z.array(z.string()).describe('Degradations of requests compared with the hour before'),
    analyzedFrom: z.iso
      .datetime()
      .nullable()
      .describe(
        'Start of the analyzed 12 hours, which have the clearest increase in a sample of a longer range; null: all of it',
      ),
    analyzedTo: z.iso
      .datetime()
      .nullable()
      .describe('End of the analyzed 12 hours; null: all of the range is analyzed'),
  }),
  causes: z.array(Cause).describe('Reported causes, the most likely first'),
  others: z.array(Cause).describe('Other candidates, with evidence against each; at most 20'),
});

interface AnalysisContext {
  readonly caller: Caller;
  readonly ports: Ports;
  readonly signal: AbortSignal;
}

/** Ranks the causes of a symptom. Throws if the request names no symptom, or one that does not exist. */
export const analyzeRootCause = async (
  request: SymptomRequest & ProjectScope,
  { caller, ports, signal }: AnalysisContext,
): Promise<z.input<typeof RootCause>> => {
  const symptom = await readSymptom(request, { caller, ports });
  const reader = createQueryReader(caller, ports);
  const { service, projectId, scope } = request;
  if (service !== undefined) await requireKnownService(reader, { service, projectId, scope });
  const changes = await readReporterChanges(symptom, caller.tenantId, ports);
  const incidentContext = await readIncidentContext(reader, symptom, { projectId, scope }, (query, options) =>
    runWithoutCost(query, reader, { ...options, signal }),
  );
  const noticed = new Date(incidentContext?.detectedMs ?? symptom.noticedMs).toISOString();
  if (incidentContext === undefined) {
    const reason =
      'the symptom has no label with a service or a host that serves requests, so its calls cannot be followed to a cause';
    const symptomView = {
      services: [...symptom.services],
      noticed,
      begin: null,
      degradations: [],
      analyzedFrom: null,
      analyzedTo: null,
    };
    const scoredChanges = scoreSourceChanges(changes, { ...symptom, areRequestsWorse: false });
    return { ...toResult({ causes: [], sharesOnOthers: [], reason }, scoredChanges), symptom: symptomView };
  }
  const rankedCauses = findCauses(incidentContext);
  const { onsetMs, symptom: degradations } = rankedCauses;
  const scoredChanges = scoreSourceChanges(changes, {
    noticedMs: incidentContext.detectedMs,
    areRequestsWorse: degradations.length > 0,
  });
  return {
    ...toResult(rankedCauses, scoredChanges),
    symptom: {
      services: incidentContext.symptoms.map(getNodeDisplayName),
      noticed,
      degradations: [...degradations],
      ...toAnalyzedRange(incidentContext),
      begin: degradations.length === 0 ? null : new Date(onsetMs).toISOString(),
    },
  };
};

const toAnalyzedRange = ({ analyzedFromMs, untilMs }: IncidentContext) => ({
  analyzedFrom: analyzedFromMs === undefined ? null : new Date(analyzedFromMs).toISOString(),
  analyzedTo: analyzedFromMs === undefined ? null : new Date(untilMs).toISOString(),
});

export const findRootCause = defineOperation({
  method: 'POST',
  path: '/api/ai/root-cause',
  operationId: 'findRootCause',
  summary:
    'Rank the causes of an alert, anomaly or incident, or of a degraded service, with evidence for and against each',
  role: 'viewer',
  auditExemption: 'read-only',
  body: z.strictObject({ ...symptomFields, ...projectScopeParameters }),
  response: RootCause,
  handler: ({ caller, body, signal }, ports) => analyzeRootCause(body, { caller, ports, signal }),
});
