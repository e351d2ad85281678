import { RE2JS } from 're2js';
import { isSecretName } from '../schemas/secret-names.ts';
import type { TextRange } from './redact-secrets.ts';
import { type Attempt, StepFailure } from './runner.ts';

/** Where a text contains a value */
export interface FoundValue {
  readonly text: string;
  readonly range: TextRange;
}

/** Returns the first group of an RE2 expression in a text, or its match without groups; undefined if it has none. */
export const findPattern = (text: string, pattern: string): FoundValue | undefined => {
  const matcher = RE2JS.compile(pattern, RE2JS.DOTALL).matcher(text);
  if (!matcher.find()) return undefined;
  const group = matcher.groupCount() > 0 ? 1 : 0;
  const from = matcher.start(group);
  return from < 0 ? undefined : { text, range: { from, to: matcher.end(group) } };
};

export const findAll = (text: string): FoundValue => ({ text, range: { from: 0, to: text.length } });

/** A shorter value would be redacted in words and numbers that have nothing to do with it. */
const minSecretLength = 4;
/** Searching for the encoded forms of longer secrets takes too long. */
const maxSecretLength = 4096;

/** Returns the value of a step, and redacts it from the report if it is secret. Throws a `StepFailure` for a part of a secret. */
export const extractValue = (
  { text, range }: FoundValue,
  { as, isSecret }: { readonly as: string; readonly isSecret: boolean | null },
  { boundSecrets, addSecret }: Attempt,
): string => {
  const value = boundSecrets.extract(text, range);
  if (value === undefined)
    throw new StepFailure(`${as} would be a part of a secret: extract all of it, or nothing of it`);
  if ((isSecret ?? isSecretName(as)) && value.trim().length >= minSecretLength)
    addSecret(value.slice(0, maxSecretLength));
  return value;
};
