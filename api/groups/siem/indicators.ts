import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { readCsv } from '../../../queries/threat-intel/csv.ts';
import { type GivenIndicator, normalised, type ReadIndicators } from '../../../queries/threat-intel/indicator.ts';
import { readMisp } from '../../../queries/threat-intel/misp.ts';
import { readStix } from '../../../queries/threat-intel/stix.ts';
import { indicatorKey, type ThreatIndicator, threatIndicators } from '../../../schemas/resources/threat-intel.ts';
import type { AuditedTransaction } from '../../kernel/changes.ts';
import { ApiError, invalid } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { IndicatorFields } from './indicator.ts';

/** What one request may bring. */
const mostIndicators = 5000;
/** Written in one transaction, which has to end within seconds. */
const atOnce = 250;

const formats = ['stix', 'misp', 'csv'] as const;

const Added = z.strictObject({
  source: z
    .string()
    .min(1)
    .max(256)
    .default('manual')
    .describe('Who says so; what the same source told before is updated'),
  indicators: z
    .array(IndicatorFields.omit({ source: true }))
    .max(mostIndicators)
    .optional(),
  format: z.enum(formats).optional().describe('Of `content`'),
  content: z
    .union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())])
    .optional()
    .describe('A document of the format: CSV as text; STIX 2.1 and MISP as JSON, or as its text'),
});

const jsonOf = (content: unknown): unknown => {
  if (typeof content !== 'string') return content;
  try {
    return JSON.parse(content);
  } catch (error) {
    throw invalid('content', `is no JSON: ${(error as Error).message}`);
  }
};

const readers: Readonly<Record<(typeof formats)[number], (content: unknown) => ReadIndicators>> = {
  stix: (content) => readStix(jsonOf(content)),
  misp: (content) => readMisp(jsonOf(content)),
  csv: (content) => {
    if (typeof content !== 'string') throw invalid('content', 'must be text: CSV is');
    return readCsv(content);
  },
};

const given = ({ indicators, format, content }: z.output<typeof Added>): ReadIndicators => {
  if (indicators !== undefined) {
    const read = indicators.map((indicator, index) => {
      const value = normalised(indicator.type, indicator.value);
      if (value === undefined) throw invalid(`indicators.${index}.value`, `is no ${indicator.type}`);
      return { ...indicator, value };
    });
    return { indicators: read, refused: [] };
  }
  if (format === undefined || content === undefined)
    throw invalid(format === undefined ? 'indicators' : 'content', 'give indicators, or a format with its content');
  return readers[format](content);
};

type Counts = { created: number; updated: number; unchanged: number };

const writePart = async (
  scope: AuditedTransaction,
  tenantId: string,
  { part, source, seenAt }: { part: readonly GivenIndicator[]; source: string; seenAt: string },
): Promise<Counts> => {
  const stored = scope.of(tenantId).collection(threatIndicators);
  const { items } = await stored.list({
    filter: { key: { $in: part.map(({ type, value }) => indicatorKey(source, type, value)) } },
    limit: 1000,
  });
  const known = new Map(items.map((item) => [item.key, item]));
  const counts = { created: 0, updated: 0, unchanged: 0 };
  for (const indicator of part) {
    const key = indicatorKey(source, indicator.type, indicator.value);
    const next: ThreatIndicator = { ...indicator, source, seenAt, key };
    const before = known.get(key);
    if (before === undefined) {
      await stored.insert(next);
      counts.created++;
      continue;
    }
    const same = isDeepStrictEqual({ ...next, seenAt: '' }, { ...indicatorOf(before), seenAt: '' });
    // Being told again is news too: what a source goes on telling is believed.
    await stored.replace(before.id, next, before.version);
    counts[same ? 'unchanged' : 'updated']++;
  }
  return counts;
};

const indicatorOf = ({
  id: _id,
  version: _version,
  createdAt: _createdAt,
  updatedAt: _updatedAt,
  ...indicator
}: ThreatIndicator & { id: string; version: number; createdAt: string; updatedAt: string }): ThreatIndicator =>
  indicator;

export const addIndicators = defineOperation({
  method: 'POST',
  path: '/api/siem/threat-intel/indicators',
  operationId: 'addThreatIndicators',
  summary: 'Add indicators, or import them from STIX 2.1, MISP or CSV',
  role: 'editor',
  audit: 'threat-indicator.import',
  maxBodyBytes: 8_000_000,
  body: Added,
  response: z.strictObject({
    created: z.int(),
    updated: z.int(),
    unchanged: z.int().describe('Told again as they were'),
    refused: z
      .array(z.strictObject({ at: z.string().describe('The line, or the id of the object'), message: z.string() }))
      .describe('What could not be taken, the first 1,000'),
  }),
  async handler({ caller, body, change }, ports) {
    const { indicators, refused } = given(body);
    if (indicators.length > mostIndicators)
      throw new ApiError(
        'PAYLOAD_TOO_LARGE',
        `a request brings at most ${mostIndicators} indicators, this one ${indicators.length}: split it`,
      );
    const { source } = body;
    const seenAt = new Date(ports.clock.now()).toISOString();
    // The last word of a source about a value counts.
    const each = [...new Map(indicators.map((one) => [`${one.type} ${one.value}`, one])).values()];
    const sum = { created: 0, updated: 0, unchanged: 0 };
    for (let from = 0; from < each.length; from += atOnce) {
      const part = each.slice(from, from + atOnce);
      const counts = await change(async (scope) => {
        const written = await writePart(scope, caller.tenantId, { part, source, seenAt });
        scope.record({ id: source, name: source, after: written });
        return written;
      });
      for (const name of ['created', 'updated', 'unchanged'] as const) sum[name] += counts[name];
    }
    return { ...sum, refused: refused.slice(0, 1000) };
  },
});
