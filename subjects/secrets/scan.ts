/** Finds secrets in texts. */
import { decodeText } from './decode.ts';
import { collectCandidates } from './prefilter.ts';
import { type ExpressionMatch, globalAllowlists, type SecretRule, secretRules } from './rules.ts';

/** A secret in a text; positions are those of the text as it was received. */
export interface SecretMatch {
  readonly rule: SecretRule;
  readonly start: number;
  readonly end: number;
  readonly secret: string;
}

/** Returns Shannon's entropy in bits per character. */
const computeEntropy = (text: string): number => {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let entropy = 0;
  for (const count of counts.values()) entropy -= (count / text.length) * Math.log2(count / text.length);
  return entropy;
};

const findLine = (text: string, { start, end }: ExpressionMatch): string => {
  const lineStart = start === 0 ? 0 : text.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = text.indexOf('\n', end);
  return text.slice(lineStart, lineEnd < 0 ? undefined : lineEnd);
};

const isAllowed = (text: string, match: ExpressionMatch, rule: SecretRule): boolean => {
  const lowerCase = match.secret.toLowerCase();
  return [globalAllowlists, rule.allowlists].some((allowlists) =>
    allowlists.some(({ target, expressions, stopwords }) => {
      if (stopwords.some((word) => lowerCase.includes(word))) return true;
      if (expressions.length === 0) return false;
      const compared =
        target === 'secret'
          ? match.secret
          : target === 'match'
            ? text.slice(match.start, match.end)
            : findLine(text, match);
      return expressions.some((expression) => expression.test(compared));
    }),
  );
};

/** Returns the secrets that a rule finds in a text. */
export const applyRule = (rule: SecretRule, text: string): SecretMatch[] =>
  rule.findMatches(text).flatMap((match) => {
    const { secret, end } = match;
    if (secret === '') return [];
    if (rule.keyFormat !== undefined && !rule.keyFormat.isWellFormed(secret)) return [];
    if (rule.minEntropy > 0 && computeEntropy(secret) <= rule.minEntropy) return [];
    if (isAllowed(text, match, rule)) return [];
    const start = text.lastIndexOf(secret, end - secret.length);
    return [{ rule, start, end: start + secret.length, secret }];
  });

const overlaps = (left: SecretMatch, right: SecretMatch): boolean => left.start < right.end && right.start < left.end;

const scanText = (text: string, file: string): SecretMatch[] =>
  collectCandidates(Buffer.from(text)).flatMap((index) => {
    const rule = secretRules[index] as SecretRule;
    return rule.path === undefined || (file !== '' && rule.path.test(file)) ? applyRule(rule, text) : [];
  });

/** Returns secrets without those that a more specific rule finds at the same place. */
const dropGeneric = (matches: readonly SecretMatch[]): SecretMatch[] =>
  matches.filter(
    (match) => !match.rule.isGeneric || !matches.some((other) => !other.rule.isGeneric && overlaps(match, other)),
  );

/**
 * Returns the secrets in a text, also those that are encoded once. `name` is the name of its attribute, because rules need
 * the name of a value: `password` and its text are searched as `password="…"`. `file` is the path of the file that the
 * text is from, for rules about files.
 */
export const findSecrets = (text: string, name = '', file = ''): SecretMatch[] => {
  const prefix = name === '' ? '' : `${name}="`;
  const plain =
    prefix === ''
      ? scanText(text, file)
      : scanText(`${prefix}${text}"`, file)
          .filter(({ start, end }) => start >= prefix.length && end <= prefix.length + text.length)
          .map((match) => ({ ...match, start: match.start - prefix.length, end: match.end - prefix.length }));
  const matches = [...plain];
  for (const { text: decoded, getRange } of decodeText(text))
    for (const match of scanText(decoded, file)) {
      const [start, end] = getRange(match.start, match.end);
      if (!matches.some((other) => other.start < end && start < other.end && other.secret.includes(match.secret)))
        matches.push({ ...match, start, end });
    }
  return dropGeneric(matches);
};

/** Returns a text with a replacement for each secret. Overlapping secrets have that of the first one, the longest. */
export const replaceSecrets = (
  text: string,
  matches: readonly SecretMatch[],
  createReplacement: (match: SecretMatch) => string,
): string => {
  let replaced = '';
  let copied = 0;
  for (const match of matches.toSorted((left, right) => left.start - right.start || right.end - left.end)) {
    if (match.start >= copied) replaced += text.slice(copied, match.start) + createReplacement(match);
    copied = Math.max(copied, match.end);
  }
  return replaced + text.slice(copied);
};
