import { z } from 'zod';
import { parseMilliseconds } from '../../../queries/range.ts';
import { timeParameter } from '../../../queries/time-parameters.ts';
import type { WorkerRequester } from '../../../queries/worker.ts';
import { normalizeValue, type ParsedIndicators } from '../../../subjects/threat-intel/indicator.ts';
import { readDocumentInWorker } from '../../../subjects/threat-intel/read-document.ts';
import { writeIndicators } from '../../../subjects/threat-intel/write-indicators.ts';
import { ApiError, createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { IndicatorFields } from './indicator.ts';

/** Maximum indicators per request */
const maxIndicators = 5000;

const formats = ['stix', 'misp', 'csv'] as const;

const AddRequest = z.strictObject({
  source: z
    .string()
    .min(1)
    .max(256)
    .default('manual')
    .describe('Source of the indicators; existing ones of the same source are updated'),
  indicators: z
    .array(IndicatorFields.omit({ source: true, raisesSignals: true }))
    .max(maxIndicators)
    .optional(),
  raisesSignals: IndicatorFields.shape.raisesSignals,
  retroHunt: z
    .strictObject({ from: timeParameter.describe('ISO 8601, now-7d or epoch milliseconds') })
    .optional()
    .describe(
      'Also searches stored logs since this time for the new indicators; an event reports when the search ends',
    ),
  format: z.enum(formats).optional().describe('Format of `content`'),
  content: z
    .union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())])
    .optional()
    .describe('A document in the format: CSV as text; STIX 2.1 and MISP as JSON, or as text'),
});

const createTooManyError = (count: number): ApiError =>
  new ApiError(
    'PAYLOAD_TOO_LARGE',
    `a request can have at most ${maxIndicators} indicators, but this one has ${count}: split it`,
  );

const readContent = async (
  reader: WorkerRequester,
  format: (typeof formats)[number],
  content: unknown,
): Promise<ParsedIndicators> => {
  if (typeof content !== 'string' && format === 'csv') throw createFieldError('content', 'must be text for CSV');
  // Objects are passed to the thread as text, which is copied much faster.
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const parseResult = await readDocumentInWorker(reader, format, text, { max: maxIndicators });
  if ('problem' in parseResult) throw createFieldError('content', parseResult.problem);
  if ('tooMany' in parseResult) throw createTooManyError(parseResult.tooMany);
  return parseResult;
};

const readRequestedIndicators = async (
  reader: WorkerRequester,
  { indicators, format, content }: z.output<typeof AddRequest>,
): Promise<ParsedIndicators> => {
  if (indicators !== undefined) {
    const normalizedIndicators = indicators.map((indicator, index) => {
      const value = normalizeValue(indicator.type, indicator.value);
      if (value === undefined) throw createFieldError(`indicators.${index}.value`, `is not a valid ${indicator.type}`);
      return { ...indicator, value, givenId: '' };
    });
    return { indicators: normalizedIndicators, rejected: [] };
  }
  if (format === undefined || content === undefined)
    throw createFieldError(
      format === undefined ? 'indicators' : 'content',
      'specify indicators, or a format with its content',
    );
  return readContent(reader, format, content);
};

export const addIndicators = defineOperation({
  method: 'POST',
  path: '/api/siem/threat-intel/indicators',
  operationId: 'addThreatIndicators',
  summary: 'Add indicators, or import them from STIX 2.1, MISP or CSV',
  role: 'editor',
  audit: 'threat-indicator.import',
  maxBodyBytes: 8_000_000,
  body: AddRequest,
  response: z.strictObject({
    created: z.int(),
    updated: z.int(),
    unchanged: z.int().describe('Number of indicators that existed already and did not change'),
    refused: z
      .array(z.strictObject({ at: z.string().describe('Line, or object id'), message: z.string() }))
      .describe('Rejected entries, the first 1,000'),
  }),
  async handler({ caller, body, change, signal }, ports) {
    const { indicators, rejected } = await readRequestedIndicators(
      { tenantId: caller.tenantId, callerId: caller.actor.id, signal },
      body,
    );
    const { source } = body;
    const nowMs = ports.clock.now();
    const options = {
      source,
      nowMs,
      halfLifeDays: null,
      validDays: null,
      raisesSignals: body.raisesSignals,
      huntFromMs: parseMilliseconds('retroHunt.from', body.retroHunt?.from, nowMs) ?? null,
    };
    const counts = await writeIndicators(
      (writeChanges) =>
        change(async (scope) => {
          const writeCounts = await writeChanges(scope.forTenant);
          scope.record({ id: source, name: source, after: writeCounts });
          return writeCounts;
        }),
      caller.tenantId,
      indicators,
      options,
    );
    return { ...counts, refused: [...rejected] };
  },
});
