import { z } from 'zod';
import {
  decodeCursor,
  decodeJson,
  encodeCursor,
  encodeJson,
  int64Pattern,
  nonEmptyTextPattern,
} from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import type { Range } from '../../../queries/range.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { signalSeverities } from '../../../schemas/signals.ts';
import { readSignals } from '../../../subjects/detections/stored-signals.ts';
import { type EventSource, readFeedPage } from '../../../subjects/events/feed.ts';
import { readUnapprovedChanges } from '../../../subjects/file-integrity/unapproved.ts';
import { readThreats } from '../../../subjects/runtime-threats/stored-threats.ts';
import { readStoredSecrets } from '../../../subjects/secrets/stored-findings.ts';
import { readMatches } from '../../../subjects/threat-intel/stored-matches.ts';
import { readInventory } from '../../../subjects/vulnerabilities/inventory.ts';
import { assessPriority } from '../../../subjects/vulnerabilities/priority.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { findingsParameters, parseFindingsRange } from './lists.ts';

const kinds = ['signal', 'threat-match', 'file-change', 'runtime-threat', 'secret', 'vulnerability'] as const;

const SecurityEvent = z.strictObject({
  id: z.string(),
  time: z.string(),
  kind: z.enum(kinds),
  severity: z.enum(signalSeverities),
  title: z.string(),
  projectId: z.string(),
  service: z.string(),
  entities: z.array(z.strictObject({ type: z.string(), value: z.string() })),
  link: z.string().describe('Path in the page'),
});
type SecurityEvent = z.output<typeof SecurityEvent>;

interface FeedQuery {
  readonly range: Range;
  readonly projectId?: string | undefined;
  readonly scope?: 'account' | undefined;
}

interface FeedContext {
  readonly reader: TenantReader;
  readonly documents: TenantDocuments;
}

const Position = z.strictObject({ ms: z.string().regex(int64Pattern), id: z.string() }).optional();
const Positions = z.partialRecord(z.enum(kinds), Position);

const toTime = (ms: string | number): string => new Date(Number(ms)).toISOString();
const listEntities = (fields: Readonly<Record<string, string>>): SecurityEvent['entities'] =>
  Object.entries(fields).flatMap(([type, value]) => (value === '' ? [] : [{ type, value }]));

const createSource = <Row extends { readonly id: string; readonly ms: string }>(
  name: SecurityEvent['kind'],
  read: (limit: number, after: z.output<typeof Position>) => Promise<readonly Row[]>,
  toEvent: (row: Row) => Omit<SecurityEvent, 'id' | 'time' | 'kind'>,
): EventSource<SecurityEvent> => ({
  name,
  async next(limit, after) {
    const rows = await read(limit, Position.parse(after));
    return rows.map((row) => ({
      event: { id: row.id, time: toTime(row.ms), kind: name, ...toEvent(row) },
      position: { ms: row.ms, id: row.id },
    }));
  },
});

/** Returns the rows after a position, of rows that were read completely. */
const takeAfter = <Row extends { readonly id: string; readonly ms: string }>(
  rows: readonly Row[],
  limit: number,
  after: z.output<typeof Position>,
): Row[] => {
  const compare = (left: { ms: string; id: string }, right: { ms: string; id: string }): number =>
    Number(right.ms) - Number(left.ms) || (left.id < right.id ? 1 : left.id > right.id ? -1 : 0);
  return [...rows]
    .sort(compare)
    .filter((row) => after === undefined || compare(row, after) > 0)
    .slice(0, limit);
};

/** Severity of threat matches, by the lowest score that has it */
const matchSeverity = (score: number): SecurityEvent['severity'] =>
  score >= 80 ? 'critical' : score >= 60 ? 'high' : score >= 40 ? 'medium' : 'low';

const createSources = ({ range, projectId, scope }: FeedQuery, { reader, documents }: FeedContext) => {
  const project = scope === 'account' ? undefined : projectId;
  const scoped = { projectId, scope };
  const toMs = (ns: bigint): number => Number(ns / 1_000_000n);
  return {
    signal: createSource(
      'signal',
      (limit, after) => readSignals(reader, { projectId: project, withSuppressed: false }, { range, limit, after }),
      (signal) => ({
        severity: signal.severity,
        title: signal.rule_title,
        projectId: signal.project,
        service: '',
        entities: signal.entities.map((entity) => ({
          type: entity.slice(0, entity.indexOf(' ')),
          value: entity.slice(entity.indexOf(' ') + 1),
        })),
        link: `/detections?open=${signal.id}`,
      }),
    ),
    'threat-match': createSource(
      'threat-match',
      (limit, after) => readMatches(reader, { projectId: project }, { range, limit, after }),
      (match) => ({
        severity: matchSeverity(match.score),
        title: `${match.value} of ${match.source}`,
        projectId: match.project,
        service: match.service,
        entities: listEntities({ host: match.host, user: match.user }),
        link: '/detections/indicators',
      }),
    ),
    'file-change': createSource(
      'file-change',
      async (limit, after) => {
        const page = { range, limit, after };
        const { events } = await readUnapprovedChanges({ reader, tenantDocuments: documents }, scoped, page);
        return events.map(({ event, ms }) => ({ ...event, ms }));
      },
      (event) => ({
        severity: 'medium',
        title: event.title,
        projectId: event.projectId,
        service: event.service,
        entities: listEntities({ host: event.tags['host'] ?? '', user: event.tags['user'] ?? '' }),
        link: '/detections/files',
      }),
    ),
    'runtime-threat': createSource(
      'runtime-threat',
      (limit, after) => readThreats(reader, scoped, { range, limit, after }),
      (threat) => ({
        severity: threat.severity,
        title: threat.rule,
        projectId: threat.project,
        service: threat.service,
        entities: listEntities({
          host: threat.host,
          workload: threat.workload,
          process: threat.program,
          user: threat.user,
        }),
        link: `/security/threats?open=${threat.group_id}`,
      }),
    ),
    secret: createSource(
      'secret',
      async (limit, after) => {
        const secrets = await readStoredSecrets(reader, scoped, range);
        return takeAfter(
          secrets.map((secret) => ({ ...secret, ms: secret.first_ms })),
          limit,
          after,
        );
      },
      (secret) => ({
        severity: secret.found_key_hash === '' ? 'high' : 'critical',
        title: `${secret.found_rule} in ${secret.found_field}`,
        projectId: secret.project,
        service: secret.found_service,
        entities: listEntities({ service: secret.found_service }),
        link: `/security/secrets?open=${secret.id}`,
      }),
    ),
    vulnerability: createSource(
      'vulnerability',
      async (limit, after) => {
        const { findings, facts } = await readInventory(documents);
        const [fromMs, toRangeMs] = [toMs(range.from), toMs(range.to)];
        const found = findings.filter(({ isOpen, firstMs }) => isOpen && firstMs >= fromMs && firstMs <= toRangeMs);
        const rows = found.map((finding) => ({ finding, facts, id: finding.id, ms: String(finding.firstMs) }));
        return takeAfter(rows, limit, after);
      },
      ({ finding, facts }) => ({
        severity: assessPriority(finding, facts, { target: undefined, process: undefined }).priority,
        title: `${finding.vulnerability} in ${finding.package.name} ${finding.package.version}`,
        projectId: '',
        service: '',
        entities: listEntities({ [finding.target.kind]: finding.target.name }),
        link: `/security/vulnerabilities?open=${finding.id}`,
      }),
    ),
  } satisfies Readonly<Record<SecurityEvent['kind'], EventSource<SecurityEvent>>>;
};

const cursorKind = 'security-events';

export const listSecurityEvents = defineOperation({
  method: 'GET',
  path: '/api/security/events',
  operationId: 'listSecurityEvents',
  summary:
    'List security events of all kinds, the newest first: signals, matches, file changes, threats, secrets and vulnerabilities',
  role: 'viewer',
  query: z.strictObject({
    ...findingsParameters,
    ...projectScopeParameters,
    kinds: z
      .string()
      .max(256)
      .refine(
        (text) => text.split(',').every((name) => (kinds as readonly string[]).includes(name)),
        `must be some of ${kinds.join(',')}`,
      )
      .optional()
      .describe(`Comma-separated, of ${kinds.join(', ')}`),
  }),
  response: z.strictObject({ items: z.array(SecurityEvent), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const documents = ports.documents.forTenant(caller.tenantId);
    let range: Range;
    let after: z.output<typeof Positions> = {};
    if (query.cursor === undefined) range = parseFindingsRange(query, reader);
    else {
      const patterns = [int64Pattern, int64Pattern, nonEmptyTextPattern];
      const [from = '', to = '', positions = ''] = decodeCursor(cursorKind, query.cursor, patterns);
      range = { from: BigInt(from), to: BigInt(to) };
      after = decodeJson(Positions, positions);
    }
    const requested = query.kinds?.split(',') ?? kinds;
    const sources = createSources({ range, projectId: query.projectId, scope: query.scope }, { reader, documents });
    // Files and vulnerabilities of the organization are in no project.
    const selected = kinds.filter((kind) => requested.includes(kind)).map((kind) => sources[kind]);
    const { events, next } = await readFeedPage(selected, { limit: query.limit, after });
    return {
      items: [...events],
      nextCursor: next === undefined ? null : encodeCursor(cursorKind, [range.from, range.to, encodeJson(next)]),
    };
  },
});
