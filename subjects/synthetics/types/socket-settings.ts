/** Settings that types which connect to one host share. */
import { z } from 'zod';
import { Assertion, assertionProblems, type Problem } from '../assertions.ts';
import { textsIn } from '../templates.ts';
import { problemsAt, type Target } from './definition.ts';

/** A name or an address, or a template of one. */
export const host = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[^\s/@?#]+$/, 'must be a name or an address, without a scheme and a path');

export const port = z.int().min(1).max(65_535);

export const assertions = z.array(Assertion).max(50).default([]);

type Source = Assertion['source'];

/** What is wrong with assertions, and those that ask what this type never sees. */
export const problemsOf = (given: readonly Assertion[], seen: readonly Source[]): readonly Problem[] =>
  given.flatMap((assertion, index) =>
    problemsAt(
      `assertions.${index}`,
      seen.includes(assertion.source)
        ? assertionProblems(assertion)
        : [{ path: 'source', message: `must be one of ${seen.join(', ')} for this type` }],
    ),
  );

/** The host, unless it is only known when the check runs. */
export const literalHost = (text: string): string | undefined =>
  text.includes('{{') ? undefined : text.toLowerCase().replace(/^\[|\]$/g, '');

/** The one target of settings. */
export const targetOf = (settings: object, path: string, where: string): readonly Target[] => [
  { path, host: literalHost(where), texts: textsIn(settings) },
];
