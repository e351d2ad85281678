/**
 * The schema registry: what lies in derived topics, for programs that are not ours. Values on the bus stay plain JSON with
 * a registry and without (no magic byte, no id): our own consumers validate with the same zod schema, and a message reads
 * the same in both ways of running. Others find the JSON schema under the subject `<topic>-value`.
 */
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { z } from 'zod';
import { LateError, within } from '../runtime/timeout.ts';
import { UnavailableError } from '../schemas/errors.ts';
import type { Topic } from '../schemas/topic.ts';

/** Subject of a topic's values, as most clients name it. */
export const subjectOf = (topic: string): string => `${topic}-value`;

/** JSON schema of a topic's values; draft 7, the newest that registries and their clients agree on. */
export const jsonSchemaOf = (topic: string, value: z.ZodType): string =>
  JSON.stringify({ title: topic, ...z.toJSONSchema(value, { target: 'draft-7' }) });

/** A registry that hangs takes connections and answers nothing, for which its client would wait for ever. */
const defaultAnswerMs = 60_000;

/** The client gives a connection that fails the status 400, which no registry answers to a schema. */
const isAway = (error: unknown): boolean => {
  if (error instanceof LateError) return true;
  const status = (error as { readonly status?: number }).status ?? 0;
  return status === 400 || status >= 500;
};

/**
 * Registers the schemas of all topics that have one; a schema that is there already keeps its id. Gives the ids by
 * subject. Rejects when the registry cannot be reached or does not answer a schema in time (`UnavailableError`), or finds it incompatible with
 * the last one.
 */
export const registerSchemas = async (
  url: string,
  topics: readonly Topic[],
  answerMs = defaultAnswerMs,
): Promise<ReadonlyMap<string, number>> => {
  // The client compiles schemas too, and does not support formats; zod validates the values.
  const json = { [SchemaType.JSON]: { strict: false, validateFormats: false } };
  const agent = new (new URL(url).protocol === 'https:' ? TlsAgent : Agent)();
  const registry = new SchemaRegistry({ host: url, agent, retry: { retries: 2, maxRetryTimeInSecs: 2 } }, json);
  try {
    return await registered(registry, url, topics, answerMs);
  } finally {
    // What is asked and not answered ends with its connection.
    agent.destroy();
  }
};

const registered = async (
  registry: SchemaRegistry,
  url: string,
  topics: readonly Topic[],
  answerMs: number,
): Promise<ReadonlyMap<string, number>> => {
  const ids = new Map<string, number>();
  for (const { name, value } of topics) {
    if (value === undefined) continue;
    const subject = subjectOf(name);
    try {
      const schema = { type: SchemaType.JSON, schema: jsonSchemaOf(name, value) } as const;
      const { id } = await within(
        answerMs,
        registry.register(schema, { subject, compatibility: COMPATIBILITY.BACKWARD }),
      );
      ids.set(subject, id);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `the schema registry at ${url} did not take ${subject}: ${reason}`;
      throw isAway(cause) ? new UnavailableError(message, { cause }) : new Error(message, { cause });
    }
  }
  return ids;
};
