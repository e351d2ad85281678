/** Single occurrences of an error group */
import { z } from 'zod';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { errorSources } from '../../schemas/error-occurrences.ts';
import type { QueryParameters } from '../../schemas/ports/columns.ts';
import { toNullIfEmpty } from '../../schemas/text.ts';
import type { ErrorScope } from './scope.ts';
import { parseStack } from './stack.ts';

/** Why a frame of a browser is not mapped to its source file */
export const unmappedReasons = [
  'no-position',
  'third-party',
  'no-release',
  'no-map',
  'file-not-found',
  'position-outside',
  'too-many-files',
] as const;
export type UnmappedReason = (typeof unmappedReasons)[number];

/** Fields of a frame that source maps may have mapped */
export const frameMapping = {
  generated: z
    .strictObject({
      function: z.string().nullable(),
      file: z.string().nullable(),
      line: z.int().nullable(),
      column: z.int().nullable(),
    })
    .nullable()
    .describe('The frame as the browser recorded it, if a source map has mapped it'),
  unmappedReason: z
    .enum(unmappedReasons)
    .nullable()
    .describe(
      'Why a frame of a browser is not mapped to its source. `no-map`: no source map of the release. `too-many-files`: the response has frames of more than 50 files',
    ),
};

const Frame = z.strictObject({
  function: z.string().nullable(),
  file: z.string().nullable().describe('File, class or package, as written in the stack'),
  line: z.int().nullable(),
  column: z.int().nullable(),
  isInApp: z.boolean().describe('Whether the frame belongs to the program itself, not to a library or the language'),
  isCompared: z
    .boolean()
    .describe(
      'Whether the frame is compared. Internal frames are not: native code, generated code and exception handling.',
    ),
  ...frameMapping,
});

export const ErrorOccurrenceView = z.strictObject({
  id: z.string(),
  timestamp: z.string().describe('Time of the exception, or of its reception if that is earlier'),
  fingerprint: z.string(),
  type: z.string().nullable(),
  message: z.string(),
  source: z.enum(errorSources),
  handled: z
    .boolean()
    .nullable()
    .describe('Whether the exception was handled, from `exception.escaped`; `null` if unknown'),
  service: z.string(),
  environment: z.string().nullable(),
  release: z.string().nullable(),
  projectId: z.string(),
  userId: z.string().nullable(),
  tags: z.record(z.string(), z.string()),
  traceId: z.string().nullable().describe('Id of the trace, for `GET /api/traces/{id}`'),
  spanId: z.string().nullable(),
  logId: z
    .string()
    .nullable()
    .describe('Id of the log record, for `GET /api/logs/{id}`; `null` for an occurrence in a span'),
  stack: z.string().nullable(),
});
export type ErrorOccurrenceView = z.output<typeof ErrorOccurrenceView>;

/** An occurrence with its parsed stack */
export const OccurrenceWithStack = z.strictObject({
  ...ErrorOccurrenceView.shape,
  language: z.string().nullable(),
  chain: z
    .array(z.strictObject({ type: z.string().nullable(), frames: z.array(Frame) }))
    .describe('The recorded exception, followed by its chain of causes; frames begin at the raise site'),
});

/** Position in time order, newest first */
export interface OccurrencePosition {
  readonly time: string;
  readonly partition: string;
  readonly offset: string;
  readonly ordinal: string;
}

interface Row extends OccurrencePosition {
  readonly fingerprint: string;
  readonly type: string;
  readonly message: string;
  readonly source: ErrorOccurrenceView['source'];
  readonly handled: string;
  readonly service: string;
  readonly environment: string;
  readonly release: string;
  readonly project_id: string;
  readonly user_id: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly trace_id: string;
  readonly span_id: string;
  readonly record_id: string;
  readonly stack: string;
}

const toOccurrence = (row: Row): ErrorOccurrenceView => ({
  id: `${row.time}-${row.partition}-${row.offset}-${row.ordinal}`,
  timestamp: formatTime(BigInt(row.time)),
  fingerprint: row.fingerprint,
  type: toNullIfEmpty(row.type),
  message: row.message,
  source: row.source,
  handled: row.handled === '' ? null : row.handled === 'true',
  service: row.service,
  environment: toNullIfEmpty(row.environment),
  release: toNullIfEmpty(row.release),
  projectId: row.project_id,
  userId: toNullIfEmpty(row.user_id),
  tags: row.tags,
  traceId: toNullIfEmpty(row.trace_id),
  spanId: toNullIfEmpty(row.span_id),
  logId: toNullIfEmpty(row.record_id),
  stack: toNullIfEmpty(row.stack),
});

/** Returns occurrences of fingerprints, newest first, with the position of each. */
export const readOccurrences = async (
  { columns }: TenantReader,
  { condition, parameters }: Pick<ErrorScope, 'condition' | 'parameters'>,
  {
    fingerprints,
    limit,
    after,
  }: {
    readonly fingerprints: readonly string[];
    readonly limit: number;
    readonly after?: OccurrencePosition | undefined;
  },
): Promise<{ readonly occurrence: ErrorOccurrenceView; readonly positionCondition: OccurrencePosition }[]> => {
  const positionColumns =
    'error_occurrences.timestamp, error_occurrences.partition, error_occurrences.offset, error_occurrences.ordinal';
  const position =
    after === undefined
      ? ''
      : ` AND (${positionColumns}) < (fromUnixTimestamp64Nano({time:Int64}, 'UTC'), {partition:UInt16}, {offset:UInt64}, {ordinal:UInt32})`;
  const rows = await columns.query<Row>(
    `SELECT toString(toUnixTimestamp64Nano(timestamp)) AS time, toString(partition) AS partition, toString(offset) AS offset, toString(ordinal) AS ordinal,
      fingerprint, type, message, source, handled, service, environment, release, project_id, user_id, tags, trace_id, span_id, record_id, stack
    FROM error_occurrences WHERE ${condition} AND fingerprint IN {fingerprints:Array(String)}${position}
    ORDER BY ${positionColumns.replaceAll(',', ' DESC,')} DESC LIMIT ${limit}`,
    {
      ...parameters,
      fingerprints: [...fingerprints],
      ...(after !== undefined && { ...after }),
    } satisfies QueryParameters,
  );
  return rows.map((row) => {
    const { time, partition, offset, ordinal } = row;
    return { occurrence: toOccurrence(row), positionCondition: { time, partition, offset, ordinal } };
  });
};

/** Returns an occurrence with its parsed stack. */
export const parseOccurrenceStack = (occurrence: ErrorOccurrenceView): z.output<typeof OccurrenceWithStack> => {
  const { language, chain } = parseStack(occurrence.stack ?? '');
  return {
    ...occurrence,
    language: language ?? null,
    chain: chain.map(({ type, frames }) => ({
      type: toNullIfEmpty(type),
      frames: frames.map(({ function: functionName, file, line, column, name }) => ({
        function: toNullIfEmpty(functionName),
        file: toNullIfEmpty(file),
        line: line ?? null,
        column: column ?? null,
        isInApp: name.isInApp,
        isCompared: !name.isGlue,
        generated: null,
        unmappedReason: null,
      })),
    })),
  };
};
