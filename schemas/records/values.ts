/** Values of derived topics: JSON, each checked by the schema that its topic declares. */
import type { z } from 'zod';
import { PermanentError } from '../errors.ts';
import type { Topic } from '../topics.ts';
import type { Source } from './source.ts';

/** The value of each message of a topic. What is no JSON, or not what the schema says, is a `PermanentError`. */
export const valuesOf = <Schema extends z.ZodType>(
  topic: Topic & { readonly value: Schema },
): Source<z.output<Schema>> => ({
  topics: [topic],
  decode({ value }) {
    let json: unknown;
    try {
      json = JSON.parse(value.toString('utf8'));
    } catch (cause) {
      throw new PermanentError('malformed', `a value of the topic ${topic.name} is not JSON`, { cause });
    }
    const parsed = topic.value.safeParse(json);
    if (parsed.success) return [parsed.data];
    const [issue] = parsed.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? 'the value' : issue.path.join('.');
    throw new PermanentError(
      'malformed',
      `a value of the topic ${topic.name} does not fit: ${where}: ${issue?.message}`,
    );
  },
});
