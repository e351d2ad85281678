import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { answerOnly } from '../../../queries/run.ts';
import { nodeName } from '../../../subjects/causes/incident-context.ts';
import { type Causes, causeKinds, causesOf, type Judged, minScore } from '../../../subjects/causes/judge.ts';
import { readIncidentContext } from '../../../subjects/causes/read-incident-context.ts';
import { judgeSourceChanges } from '../../../subjects/causes/shown-by.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { changesOfShown } from './shown-changes.ts';
import { symptomFields, symptomOf } from './symptom.ts';

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
  score: z.number().describe('0 to 1: how well it explains the symptom. From 0.3 on it is reported as a cause'),
  evidence: z.array(z.string()).describe('Evidence for it'),
  counterEvidence: z.array(z.string()).describe('Evidence against it'),
  path: z.array(z.string()).describe('Calls from the symptom to it; may be empty'),
});

const causeView = ({
  kind,
  at,
  beginMs,
  title,
  link,
  score,
  evidence,
  counterEvidence,
  path,
}: Judged): z.output<typeof Cause> => ({
  kind,
  at,
  title,
  link,
  score: Number(score.toFixed(3)),
  begin: new Date(beginMs).toISOString(),
  evidence: [...evidence],
  counterEvidence: [...counterEvidence],
  path: path.map(nodeName),
});

/** The causes on the path, and the configuration changes that explain the symptom. */
const answered = (found: Pick<Causes, 'causes' | 'others' | 'reason'>, shown: readonly Judged[]) => {
  const causes = [...found.causes, ...shown.filter(({ score }) => score >= minScore)];
  const others = [...shown.filter(({ score }) => score < minScore), ...found.others].slice(0, 20);
  return {
    state: causes.length > 0 ? ('found' as const) : ('inconclusive' as const),
    reason: causes.length > 0 ? null : found.reason,
    causes: causes.map(causeView),
    others: others.map(causeView),
  };
};

export const findRootCause = defineOperation({
  method: 'POST',
  path: '/api/ai/root-cause',
  operationId: 'findRootCause',
  summary:
    'Rank the causes of an alert, anomaly or incident, or of a degraded service, with evidence for and against each',
  role: 'viewer',
  unaudited: 'it reads telemetry, as lists do',
  body: z.strictObject({ ...symptomFields, ...projectScopeParameters }),
  response: z.strictObject({
    state: z.enum(['found', 'inconclusive']).describe('inconclusive: no known cause explains it, for the given reason'),
    reason: z.string().nullable(),
    symptom: z.strictObject({
      services: z.array(z.string()),
      noticed: z.iso.datetime(),
      begin: z.iso.datetime().nullable().describe('Time when requests began to degrade; null if they did not'),
      degradations: z.array(z.string()).describe('Degradations of requests compared with the hour before'),
    }),
    causes: z.array(Cause).describe('Reported causes, the most likely first'),
    others: z.array(Cause).describe('Other candidates, with evidence against each; at most 20'),
  }),
  async handler({ caller, body, signal }, ports) {
    const symptom = await symptomOf(body, { caller, ports });
    const reading = readingOf(caller, ports);
    const changes = await changesOfShown(symptom, caller.tenantId, ports);
    const incidentContext = await readIncidentContext(
      reading,
      symptom,
      { projectId: body.projectId, scope: body.scope },
      (query, options) => answerOnly(query, reading, { ...options, signal }),
    );
    const noticed = new Date(incidentContext?.noticedMs ?? symptom.noticedMs).toISOString();
    if (incidentContext === undefined) {
      const reason =
        'no evidence of the symptom names a service or a host that serves requests, so there is no path to follow';
      const none = { services: [...symptom.services], noticed, begin: null, degradations: [] };
      const shown = judgeSourceChanges(changes, { ...symptom, isWorse: false });
      return { ...answered({ causes: [], others: [], reason }, shown), symptom: none };
    }
    const found = causesOf(incidentContext);
    const { onsetMs, symptom: worse } = found;
    const shown = judgeSourceChanges(changes, { noticedMs: incidentContext.noticedMs, isWorse: worse.length > 0 });
    return {
      ...answered(found, shown),
      symptom: {
        services: incidentContext.symptoms.map(nodeName),
        noticed,
        degradations: [...worse],
        begin: worse.length === 0 ? null : new Date(onsetMs).toISOString(),
      },
    };
  },
});
