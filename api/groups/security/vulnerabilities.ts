import { z } from 'zod';
import { cursorParameter, decodeCursor, encodeCursor, nonEmptyTextPattern } from '../../../queries/cursor.ts';
import { decodePosition, encodePosition, getPageOfSorted, getSortedPage } from '../../../queries/sorted-page.ts';
import { vulnerabilityTriages } from '../../../schemas/resources/security-triage.ts';
import { readTriages } from '../../../subjects/security/stored-triages.ts';
import {
  type AssessContext,
  type AssessedFinding,
  assessFinding,
  assessFindings,
  type Decisions,
  findTriage,
  getReportedMs,
  resolveFindingState,
  runningStates,
} from '../../../subjects/vulnerabilities/assess.ts';
import { findStatements, readInventory } from '../../../subjects/vulnerabilities/inventory.ts';
import { priorities, priorityFactors } from '../../../subjects/vulnerabilities/priority.ts';
import { targetKinds, vexStatuses } from '../../../subjects/vulnerabilities/report.ts';
import { readRunningTargets } from '../../../subjects/vulnerabilities/running-targets.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { changeTriage, stateParameter, TriageBody, toTriageView, triageView } from './triage.ts';

const FindingView = z.strictObject({
  id: z.string(),
  vulnerability: z.string().describe('CVE, or the id of the scanner'),
  aliases: z.array(z.string()),
  title: z.string(),
  url: z.string(),
  package: z.strictObject({
    name: z.string(),
    version: z.string(),
    purl: z.string(),
    ecosystem: z.string(),
  }),
  target: z.strictObject({ id: z.string(), name: z.string(), kind: z.enum(targetKinds) }),
  location: z.string().describe('Lock file in a repository'),
  status: z.enum(['open', 'fixed']).describe('What scanners report'),
  firstTime: z.string(),
  lastTime: z.string(),
  fixedTime: z.string().nullable(),
  fixedVersions: z.array(z.string()),
  priority: z.enum(priorities),
  score: z.number().describe('Sum of the points of all factors, from 0 to 100'),
  factors: z.array(
    z.strictObject({
      factor: z.enum(priorityFactors),
      value: z.string().nullable().describe('null if it is unknown, which counts as average'),
      points: z.number(),
      maxPoints: z.number(),
    }),
  ),
  cvss: z.number().nullable().describe('Highest base score, recomputed from the vectors'),
  cvssVector: z.string().nullable(),
  epss: z.number().nullable(),
  isKnownExploited: z.boolean().nullable().describe('null without a catalog'),
  running: z.enum(runningStates).describe('exposed: it runs behind a service that others call'),
  services: z.array(z.string()).describe('Services that run the target'),
  sources: z.array(
    z.strictObject({
      scanner: z.string(),
      id: z.string().describe('Id that the scanner reports'),
      severity: z.string(),
      firstTime: z.string(),
      lastTime: z.string(),
      fixedTime: z.string().nullable(),
    }),
  ),
  vex: z.array(z.strictObject({ status: z.enum(vexStatuses), justification: z.string(), document: z.string() })),
  ...triageView,
});
type FindingView = z.input<typeof FindingView>;

const toIso = (ms: number): string => new Date(ms).toISOString();
const toIsoOrNull = (ms: number | null): string | null => (ms === null ? null : toIso(ms));

type ViewContext = AssessContext & Decisions;

const toView = (assessed: AssessedFinding, context: ViewContext): FindingView => {
  const { inventory, runningTargets, nowMs } = context;
  const { finding, priority, score, factors, cvss, cvssVector, epss, isKnownExploited, running } = assessed;
  const details = finding.sources.map((source) => source.finding);
  return {
    id: finding.id,
    vulnerability: finding.vulnerability,
    aliases: [...finding.aliases],
    title: details.find(({ title }) => title !== '')?.title ?? '',
    url: details.find(({ url }) => url !== '')?.url ?? '',
    package: {
      name: finding.package.name,
      version: finding.package.version,
      purl: finding.package.purl,
      ecosystem: finding.package.ecosystem,
    },
    target: { id: finding.target.id, name: finding.target.name, kind: finding.target.kind },
    location: finding.location,
    status: finding.isOpen ? 'open' : 'fixed',
    firstTime: toIso(finding.firstMs),
    lastTime: toIso(finding.lastMs),
    fixedTime: toIsoOrNull(finding.fixedMs),
    fixedVersions: [...new Set(details.flatMap(({ fixedVersions }) => fixedVersions))],
    priority,
    score,
    factors: [...factors],
    cvss,
    cvssVector,
    epss,
    isKnownExploited,
    running,
    services: [...runningTargets.getServices(finding.target)],
    sources: finding.sources.map(({ scanner, id, severity, firstMs, lastMs, fixedMs }) => ({
      scanner,
      id,
      severity,
      firstTime: toIso(firstMs),
      lastTime: toIso(lastMs),
      fixedTime: toIsoOrNull(fixedMs),
    })),
    vex: findStatements(inventory, finding).map(({ status, justification, document }) => ({
      status,
      justification,
      document,
    })),
    ...toTriageView(findTriage(context, finding), getReportedMs(finding), nowMs),
  };
};

const groupings = ['package', 'target', 'vulnerability'] as const;

const GroupView = z.strictObject({
  name: z.string(),
  kind: z.string().describe('Kind of a target, or ecosystem of a package'),
  findings: z.int(),
  highestScore: z.number(),
  priority: z.enum(priorities),
  running: z.enum(runningStates).describe('Of the findings: exposed before running, unknown and not-running'),
});
type GroupView = z.input<typeof GroupView>;

const groupKey = (
  { finding }: AssessedFinding,
  by: (typeof groupings)[number],
): readonly [name: string, kind: string] => {
  if (by === 'target') return [finding.target.name, finding.target.kind];
  if (by === 'package') return [`${finding.package.name} ${finding.package.version}`, finding.package.ecosystem];
  return [finding.vulnerability, ''];
};

const runningOrder = ['exposed', 'running', 'unknown', 'not-running'] as const;
const selectRunning = (left: AssessedFinding['running'], right: AssessedFinding['running']) =>
  runningOrder.indexOf(left) <= runningOrder.indexOf(right) ? left : right;

const groupFindings = (findings: readonly AssessedFinding[], by: (typeof groupings)[number]): GroupView[] => {
  const groups = new Map<string, GroupView>();
  for (const assessed of findings) {
    const [name, kind] = groupKey(assessed, by);
    const known = groups.get(name);
    const { score, priority, running } = assessed;
    if (known === undefined) groups.set(name, { name, kind, findings: 1, highestScore: score, priority, running });
    else
      groups.set(name, {
        ...known,
        findings: known.findings + 1,
        highestScore: Math.max(known.highestScore, score),
        priority: score > known.highestScore ? priority : known.priority,
        running: selectRunning(known.running, running),
      });
  }
  return [...groups.values()];
};

const listParameter = (names: readonly string[]) =>
  z
    .string()
    .max(256)
    .refine((text) => text.split(',').every((name) => names.includes(name)), `must be some of ${names.join(',')}`)
    .optional();

const Query = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: cursorParameter,
  groupBy: z.enum(groupings).optional().describe('Groups in place of findings, the one with the highest score first'),
  status: z.enum(['open', 'fixed', 'all']).default('open'),
  state: stateParameter,
  priority: listParameter(priorities).describe(`Comma-separated, of ${priorities.join(', ')}`),
  running: listParameter(runningStates).describe(`Comma-separated, of ${runningStates.join(', ')}`),
  vulnerability: z.string().max(128).optional().describe('Id or alias'),
  package: z.string().max(1_024).optional().describe('Name of the package'),
  target: z.string().max(1_024).optional().describe('Id or name of the target'),
  targetKind: z.enum(targetKinds).optional(),
  service: z.string().max(512).optional().describe('Service that runs the target'),
  vex: z
    .enum([...vexStatuses, 'none'])
    .optional()
    .describe('Status by VEX'),
});
type Query = z.output<typeof Query>;

const isSelected = (assessed: AssessedFinding, query: Query, context: ViewContext): boolean => {
  const { finding } = assessed;
  const { status, priority, running, vulnerability, package: name, target, targetKind, state } = query;
  const isMatch =
    (status === 'all' || (status === 'open') === finding.isOpen) &&
    (priority === undefined || priority.split(',').includes(assessed.priority)) &&
    (running === undefined || running.split(',').includes(assessed.running)) &&
    (vulnerability === undefined ||
      finding.vulnerability === vulnerability ||
      finding.aliases.includes(vulnerability)) &&
    (name === undefined || finding.package.name === name) &&
    (target === undefined || finding.target.id === target || finding.target.name === target) &&
    (targetKind === undefined || finding.target.kind === targetKind) &&
    (state === undefined || resolveFindingState(finding, context).state === state);
  if (!isMatch) return false;
  if (query.service !== undefined && !context.runningTargets.getServices(finding.target).includes(query.service))
    return false;
  if (query.vex === undefined) return true;
  const statuses = findStatements(context.inventory, finding).map(({ status }) => status);
  return query.vex === 'none' ? statuses.length === 0 : statuses.includes(query.vex);
};

export const listVulnerabilities = defineOperation({
  method: 'GET',
  path: '/api/security/vulnerabilities',
  operationId: 'listVulnerabilities',
  summary: 'List vulnerabilities of packages by priority, or their packages, targets or ids',
  role: 'viewer',
  query: Query,
  response: z.strictObject({
    items: z.array(FindingView),
    groups: z.array(GroupView).describe('With `groupBy`'),
    total: z.int().describe('Findings that match, on all pages'),
    nextCursor: z.string().nullable(),
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const documents = ports.documents.forTenant(caller.tenantId);
    const [inventory, runningTargets, triages] = await Promise.all([
      readInventory(documents),
      readRunningTargets(reader, reader.nowMs),
      readTriages(documents, vulnerabilityTriages),
    ]);
    const context = { inventory, runningTargets, triages, nowMs: reader.nowMs };
    const found = (await assessFindings(context)).filter((assessed) => isSelected(assessed, query, context));
    const [position] =
      query.cursor === undefined ? [] : decodeCursor('vulnerabilities', query.cursor, [nonEmptyTextPattern]);
    const page = { limit: query.limit, after: position === undefined ? undefined : decodePosition(position) };
    const direction = 'descending' as const;
    if (query.groupBy !== undefined) {
      const order = {
        getName: ({ name }: GroupView) => name,
        getSortValue: ({ highestScore }: GroupView) => highestScore,
        direction,
      };
      const { pageItems, last } = getSortedPage(groupFindings(found, query.groupBy), order, page);
      const nextCursor = last === undefined ? null : encodeCursor('vulnerabilities', [encodePosition(last)]);
      return { items: [], groups: [...pageItems], total: found.length, nextCursor };
    }
    const order = {
      getName: ({ id }: AssessedFinding) => id,
      getSortValue: ({ score }: AssessedFinding) => score,
      direction,
    };
    const { pageItems, last } = getPageOfSorted(found, order, page);
    return {
      items: pageItems.map((assessed) => toView(assessed, context)),
      groups: [],
      total: found.length,
      nextCursor: last === undefined ? null : encodeCursor('vulnerabilities', [encodePosition(last)]),
    };
  },
});

export const triageVulnerability = defineOperation({
  method: 'PATCH',
  path: '/api/security/vulnerabilities/{id}',
  operationId: 'triageVulnerability',
  summary: 'Resolve, ignore, accept, reopen or assign a vulnerability of a package in a target',
  role: 'editor',
  audit: 'vulnerability.triage',
  versions: 'write',
  params: idParameter,
  body: TriageBody,
  response: FindingView,
  async handler({ caller, params, body, request, change }, ports) {
    const reader = createQueryReader(caller, ports);
    const documents = ports.documents.forTenant(caller.tenantId);
    const inventory = await readInventory(documents);
    const finding = inventory.findings.find(({ id, formerIds }) => id === params.id || formerIds.includes(params.id));
    if (finding === undefined) throw createNotFoundError('vulnerability');
    const triage = await change((scope) =>
      changeTriage(scope, {
        caller,
        request,
        body,
        collection: vulnerabilityTriages,
        id: finding.id,
        name: `${finding.vulnerability} in ${finding.package.name}`,
        noun: 'vulnerability',
        nowMs: reader.nowMs,
      }),
    );
    const runningTargets = await readRunningTargets(reader, reader.nowMs);
    const context = { inventory, runningTargets, triages: new Map([[finding.id, triage]]), nowMs: reader.nowMs };
    return toView(assessFinding(finding, context), context);
  },
});
