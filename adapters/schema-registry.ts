/**
 * The schema registry: schemas of derived topics for external programs. Values on the bus are plain JSON with or
 * without a registry (no magic byte, no id). Our own consumers validate with the same zod schema, so a message is the
 * same in both modes. External programs find the JSON schema under the subject `<topic>-value`.
 */
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { z } from 'zod';
import { TimeoutError, withTimeout } from '../runtime/timeout.ts';
import { UnavailableError } from '../schemas/errors.ts';
import type { Topic } from '../schemas/topic.ts';

/** Subject of a topic's values, in the naming of most clients. */
export const toSubject = (topic: string): string => `${topic}-value`;

/** JSON schema of a topic's values; draft 7, the newest that registries and their clients support. */
export const toJsonSchema = (topic: string, value: z.ZodType): string =>
  JSON.stringify({ title: topic, ...z.toJSONSchema(value, { target: 'draft-7' }) });

/** Timeout for a registry that accepts connections but does not respond; its client would wait forever. */
const defaultTimeoutMs = 60_000;

/** The client reports a failed connection with status 400, which no registry returns for a schema. */
const isUnavailable = (error: unknown): boolean => {
  if (error instanceof TimeoutError) return true;
  const status = (error as { readonly status?: number }).status ?? 0;
  return status === 400 || status >= 500;
};

/**
 * Registers the schemas of all topics that have one; an existing schema has the same id as before. Returns the ids by
 * subject. Rejects when the registry is unreachable or does not respond in time (`UnavailableError`), or finds a schema
 * incompatible with the last one.
 */
export const registerSchemas = async (
  url: string,
  topics: readonly Topic[],
  timeoutMs = defaultTimeoutMs,
): Promise<ReadonlyMap<string, number>> => {
  // The client compiles schemas too, without support for formats; zod validates the values.
  const json = { [SchemaType.JSON]: { strict: false, validateFormats: false } };
  const agent = new (new URL(url).protocol === 'https:' ? TlsAgent : Agent)();
  const registry = new SchemaRegistry({ host: url, agent, retry: { retries: 2, maxRetryTimeInSecs: 2 } }, json);
  try {
    return await registerTopics(registry, url, topics, timeoutMs);
  } finally {
    // Pending requests end with their connection.
    agent.destroy();
  }
};

const registerTopics = async (
  registry: SchemaRegistry,
  url: string,
  topics: readonly Topic[],
  timeoutMs: number,
): Promise<ReadonlyMap<string, number>> => {
  const ids = new Map<string, number>();
  for (const { name, value } of topics) {
    if (value === undefined) continue;
    const subject = toSubject(name);
    try {
      const schema = { type: SchemaType.JSON, schema: toJsonSchema(name, value) } as const;
      const { id } = await withTimeout(
        timeoutMs,
        registry.register(schema, { subject, compatibility: COMPATIBILITY.BACKWARD }),
      );
      ids.set(subject, id);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `the schema registry at ${url} did not accept ${subject}: ${reason}`;
      throw isUnavailable(cause) ? new UnavailableError(message, { cause }) : new Error(message, { cause });
    }
  }
  return ids;
};
