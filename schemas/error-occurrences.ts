/** Output of the error processors. */
import { z } from 'zod';

/** Kinds of records that contain an occurrence */
export const errorSources = ['log', 'span'] as const;
export type ErrorSource = (typeof errorSources)[number];

/** Attributes that distinguish the occurrences of a group, besides release and environment, by their current names. */
export const errorTags = [
  'host.name',
  'k8s.pod.name',
  'cloud.region',
  'os.name',
  'process.runtime.name',
  'process.runtime.version',
  'device.model.identifier',
  'user_agent.name',
  'user_agent.version',
  'http.request.method',
  'http.response.status_code',
  'http.route',
  'rpc.method',
  'db.system.name',
  'messaging.system',
  'span.name',
] as const;
export type ErrorTag = (typeof errorTags)[number];

const ErrorOccurrenceFields = {
  tenantId: z.string(),
  projectId: z.string(),
  service: z.string(),
  environment: z.string().describe('Value of `deployment.environment.name`; empty if absent'),
  release: z.string().describe('Value of `service.version`; empty if absent'),
  source: z.enum(errorSources),
  fingerprint: z.string().describe('`f<version>-<hash of the components>`'),
  components: z.array(z.tuple([z.string(), z.string()])).describe('Components of the fingerprint'),
  type: z.string().describe('Error type; empty if unknown'),
  message: z.string(),
  culprit: z.string().describe('Frame that most likely caused the error; empty without frames'),
  stack: z.string().describe('Stack trace, possibly truncated; empty if absent'),
  handled: z.boolean().nullable().describe('Whether the program caught the error; `null` if unknown'),
  userId: z.string().describe('Value of `user.id` or `enduser.id`; empty if absent'),
  tags: z.partialRecord(z.enum(errorTags), z.string()),
  traceId: z.string(),
  spanId: z.string(),
  at: z
    .string()
    .describe('Time of the exception, or of reception if that is earlier; ISO 8601 with 9 fractional digits'),
  recordId: z.string().describe('ID of the log record; empty for a span'),
};

/** One error occurrence, regardless of how many records report it. */
export const ErrorOccurrence = z.strictObject(ErrorOccurrenceFields);
export type ErrorOccurrence = z.output<typeof ErrorOccurrence>;

/** An error as one record reports it. */
export const RaisedError = z.strictObject({
  ...ErrorOccurrenceFields,
  timeMs: z.number(),
  parentSpanId: z.string().describe('ID of the parent span; empty for a log record'),
  identity: z
    .string()
    .describe('Identifier that is the same in all records of an exception: its short type and a hash of its message'),
  isStatusOnly: z.boolean().describe('Whether the span has an error status and no exception'),
});
export type RaisedError = z.output<typeof RaisedError>;
