/** Settings that types with a single target host share */
import { z } from 'zod';
import { Assertion, findAssertionProblems, type Problem } from '../assertions.ts';
import { listTexts } from '../templates.ts';
import { prefixPaths, type Target } from './definition.ts';

/** A name, an address, or a template */
export const host = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[^\s/@?#]+$/, 'must be a name or an address, without a scheme and a path');

export const port = z.int().min(1).max(65_535);

export const assertions = z.array(Assertion).max(50).default([]);

type Source = Assertion['source'];

/** Returns the problems of assertions, including those on values that this type never observes. */
export const findProblems = (
  assertionList: readonly Assertion[],
  supportedSources: readonly Source[],
): readonly Problem[] =>
  assertionList.flatMap((assertion, index) =>
    prefixPaths(
      `assertions.${index}`,
      supportedSources.includes(assertion.source)
        ? findAssertionProblems(assertion)
        : [{ path: 'source', message: `must be one of ${supportedSources.join(', ')} for this type` }],
    ),
  );

/** Returns the host, unless it is only known during a run. */
export const parseLiteralHost = (text: string): string | undefined =>
  text.includes('{{') ? undefined : text.toLowerCase().replace(/^\[|\]$/g, '');

/** Returns the single target of settings. */
export const createTarget = (settings: object, path: string, hostText: string): readonly Target[] => [
  { path, host: parseLiteralHost(hostText), texts: listTexts(settings) },
];
