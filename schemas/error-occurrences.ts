/** What the processors of errors emit. */
import { z } from 'zod';

/** What an occurrence was found in. */
export const errorSources = ['log', 'span'] as const;
export type ErrorSource = (typeof errorSources)[number];

/** Attributes by which occurrences of a group are told apart, beside release and environment; by their current names. */
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
  environment: z.string().describe('deployment.environment.name; empty without one'),
  release: z.string().describe('service.version; empty without one'),
  source: z.enum(errorSources),
  fingerprint: z.string().describe('`f<version>-<hash of the components>`'),
  components: z.array(z.tuple([z.string(), z.string()])).describe('What the fingerprint is made of'),
  type: z.string().describe('Empty without one'),
  message: z.string(),
  culprit: z.string().describe('The frame to look at first; empty without frames'),
  stack: z.string().describe('Cut where it is long; empty without one'),
  handled: z.boolean().nullable().describe('Whether the program caught it; null where nobody says'),
  userId: z.string().describe('user.id or enduser.id; empty without one'),
  tags: z.partialRecord(z.enum(errorTags), z.string()),
  traceId: z.string(),
  spanId: z.string(),
  at: z.string().describe('Time of the exception, or of its reception where that is earlier; ISO-8601 with 9 digits'),
  recordId: z.string().describe('Id of the log record; empty for a span'),
};

/** One error that happened, however many records tell of it. */
export const ErrorOccurrence = z.strictObject(ErrorOccurrenceFields);
export type ErrorOccurrence = z.output<typeof ErrorOccurrence>;

/** An error as one record tells of it. */
export const RaisedError = z.strictObject({
  ...ErrorOccurrenceFields,
  timeMs: z.number(),
  parentSpanId: z.string().describe('Of the span; empty for a log record'),
  identity: z
    .string()
    .describe('The same wherever one exception is recorded: its short type, and a hash of its message'),
  isStatusOnly: z.boolean().describe('A span that failed and says no more than that'),
});
export type RaisedError = z.output<typeof RaisedError>;
