import { z } from 'zod';
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  type Coverage,
  type CoveringRule,
  computeCoverage,
  type TechniqueCoverage,
} from '../../../subjects/attack/coverage.ts';
import { attackNotice, attackVersion } from '../../../subjects/attack/matrix.ts';
import { parseDocuments } from '../../../subjects/detections/deployment.ts';
import { countSignals } from '../../../subjects/detections/stored-signals.ts';
import { findRuleTelemetry } from '../../../subjects/detections/telemetry.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { ruleResource } from './rule.ts';
import { readRuleTelemetry } from './telemetry.ts';

const countFields = {
  rules: z.int(),
  enabledRules: z.int(),
  testedRules: z.int().describe('Number of rules with events that they must match'),
  seenRules: z.int().describe('Number of rules whose telemetry arrived within the given days'),
  unknownRules: z
    .int()
    .describe('Number of rules for which it is unknown whether their telemetry arrived, such as correlations'),
  signals: z.int().describe('Signals of its rules within the given days'),
};

const CoverageView = z.strictObject({
  version: z.string().describe('Version of ATT&CK Enterprise'),
  notice: z.string(),
  days: z.int(),
  tactics: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      techniques: z.array(
        z.strictObject({
          id: z.string(),
          name: z.string(),
          ...countFields,
          subtechniques: z.array(z.strictObject({ id: z.string(), name: z.string(), ...countFields })),
        }),
      ),
    }),
  ),
  others: z
    .array(
      z.strictObject({
        id: z.string(),
        status: z.enum(['revoked', 'deprecated', 'unknown']),
        by: z.string().nullable().describe('Replacement'),
        rules: z.int(),
      }),
    )
    .describe('Techniques in rules that do not exist in this version'),
});

const readCoveringRules = async (
  tenantDocuments: TenantDocuments,
  { tables, telemetry }: Awaited<ReturnType<typeof readRuleTelemetry>>,
): Promise<CoveringRule[]> => {
  const rules: Omit<CoveringRule, 'isSeen'>[] = [];
  const ruleDocuments = tenantDocuments.collection(ruleResource.collection);
  for await (const { id, source, enabled, tests } of iterateDocuments(ruleDocuments, {
    filter: { kind: { $ne: 'filter' } },
  }))
    rules.push({ id, source, enabled, isTested: tests.mustMatch.length > 0 });
  const documents = await parseDocuments(
    tenantDocuments,
    rules.map(({ source }) => source),
  );
  return rules.map((rule, index) => {
    const document = documents[index];
    return {
      ...rule,
      isSeen: typeof document === 'object' ? findRuleTelemetry(document, tables, telemetry).isSeen : null,
    };
  });
};

const toTechniqueView = ({ technique: { id, name }, subtechniques: _, ...counts }: TechniqueCoverage) => ({
  id,
  name,
  ...counts,
});

const toCoverageView = ({ tactics, others }: Coverage, days: number): z.input<typeof CoverageView> => ({
  version: attackVersion,
  notice: attackNotice,
  days,
  tactics: tactics.map(({ tactic: { id, name }, techniques }) => ({
    id,
    name,
    techniques: techniques.map((technique) => ({
      ...toTechniqueView(technique),
      subtechniques: technique.subtechniques.map(toTechniqueView),
    })),
  })),
  others: others.map(({ id, status, rules }) => ({
    id,
    status: status.status,
    rules,
    by: status.status === 'revoked' ? status.by.id : null,
  })),
});

const Layer = z
  .strictObject({
    name: z.string(),
    description: z.string(),
    versions: z.strictObject({ attack: z.string(), navigator: z.string(), layer: z.string() }),
    domain: z.string(),
    techniques: z.array(z.strictObject({ techniqueID: z.string(), score: z.number(), comment: z.string() })),
    gradient: z.strictObject({ colors: z.array(z.string()), minValue: z.number(), maxValue: z.number() }),
  })
  .describe('A layer of ATT&CK Navigator');

/** Converts coverage to a layer of ATT&CK Navigator, format 4.5. The score is the number of enabled rules. */
const toNavigatorLayer = ({ tactics }: Coverage, days: number): z.input<typeof Layer> => {
  const coverageById = new Map(
    tactics.flatMap(({ techniques }) =>
      techniques
        .flatMap((techniqueCoverage) => [techniqueCoverage, ...techniqueCoverage.subtechniques])
        .map((techniqueCoverage) => [techniqueCoverage.technique.id, techniqueCoverage] as const),
    ),
  );
  const coveredTechniques = [...coverageById.values()].filter(({ rules }) => rules > 0);
  return {
    name: 'Detection rules',
    description: attackNotice,
    versions: { attack: attackVersion, navigator: '5.1.0', layer: '4.5' },
    domain: 'enterprise-attack',
    techniques: coveredTechniques.map(({ technique, rules, enabledRules, testedRules, seenRules, signals }) => ({
      techniqueID: technique.id,
      score: enabledRules,
      comment: `${rules} rules, ${enabledRules} enabled, ${testedRules} tested, ${seenRules} with telemetry and ${signals} signals in ${days} days`,
    })),
    gradient: {
      colors: ['#ffffff', '#66b1ff'],
      minValue: 0,
      maxValue: Math.max(1, ...coveredTechniques.map(({ enabledRules }) => enabledRules)),
    },
  };
};

export const getMitreCoverage = defineOperation({
  method: 'GET',
  path: '/api/siem/mitre/coverage',
  operationId: 'getMitreCoverage',
  summary:
    'Get the ATT&CK techniques that rules cover, and those with signals; optionally as a layer of ATT&CK Navigator',
  role: 'viewer',
  query: z.strictObject({
    days: z.coerce
      .number()
      .int()
      .min(1)
      .max(90)
      .default(30)
      .describe('Number of days for the counts of signals and the check for telemetry'),
    format: z.enum(['navigator']).optional().describe('navigator: a layer file'),
  }),
  response: z.union([CoverageView, Layer]),
  async handler({ caller, query, request }, ports) {
    const toNs = BigInt(ports.clock.now()) * 1_000_000n;
    const range = { from: toNs - BigInt(query.days) * 86_400_000_000_000n, to: toNs };
    const [sentTelemetry, signals] = await Promise.all([
      readRuleTelemetry({ caller, ports }, query.days),
      countSignals(createQueryReader(caller, ports), { range }),
    ]);
    const rules = await readCoveringRules(ports.documents.forTenant(caller.tenantId), sentTelemetry);
    const coverage = computeCoverage(rules, signals);
    if (query.format === undefined) return toCoverageView(coverage, query.days);
    request.reply('Content-Disposition', 'attachment; filename="detection-rules.json"');
    return toNavigatorLayer(coverage, query.days);
  },
});
