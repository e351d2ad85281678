/** Rules for secrets: those of gitleaks, and those for keys of this platform. */
import { RE2JS } from 're2js';
import { createKeyFormat, type KeyFormat } from '../../schemas/key-format.ts';
import { apiTokenFormat } from '../../schemas/resources/service-account.ts';
import { heartbeatTokenFormat } from '../../schemas/resources/synthetic-heartbeat-token.ts';
import { removeNamePrefix, translateExpression } from './expression.ts';
import gitleaks from './gitleaks-rules.json' with { type: 'json' };

/** What an allowlist compares with its expressions. */
type AllowlistTarget = 'secret' | 'match' | 'line';

interface Allowlist {
  readonly target: AllowlistTarget;
  readonly expressions: readonly RegExp[];
  readonly stopwords: readonly string[];
}

/** A part of a text that an expression matches. */
export interface ExpressionMatch {
  readonly start: number;
  readonly end: number;
  readonly secret: string;
}

export interface SecretRule {
  readonly id: string;
  readonly description: string;
  /** A matching text contains at least one, in any case. */
  readonly keywords: readonly string[];
  /** Minimum entropy of a secret, in bits per character; exclusive. 0 for any. */
  readonly minEntropy: number;
  readonly allowlists: readonly Allowlist[];
  /** Whether the rule only knows that a name is followed by a value. Its findings yield to those of other rules. */
  readonly isGeneric: boolean;
  /** Whether a keyword is the name of the value behind it, with an operator between both */
  readonly hasNamedValue: boolean;
  /** Path of files in which the rule applies; any, if undefined */
  readonly path: RegExp | undefined;
  /** Set for keys of this platform. */
  readonly keyFormat?: KeyFormat;
  /** Returns all matches, in order. Takes linear time. */
  findMatches(text: string): readonly ExpressionMatch[];
}

interface StoredAllowlist {
  readonly condition?: string;
  readonly regexTarget?: string;
  readonly paths?: readonly string[];
  readonly regexes?: readonly string[];
  readonly stopwords?: readonly string[];
}

interface StoredRule {
  readonly id: string;
  readonly description: string;
  readonly regex?: string;
  readonly keywords: readonly string[];
  readonly entropy?: number;
  readonly secretGroup?: number;
  readonly path?: string;
  readonly allowlists?: readonly StoredAllowlist[];
}

const toAllowlists = (stored: readonly StoredAllowlist[]): Allowlist[] =>
  stored
    // Records have no path, which these need in addition.
    .filter(({ condition }) => condition !== 'AND')
    .map(({ regexTarget = 'secret', regexes = [], stopwords = [] }) => ({
      target: regexTarget as AllowlistTarget,
      expressions: regexes.map((source) => new RegExp(translateExpression(source))),
      stopwords: stopwords.map((word) => word.toLowerCase()),
    }));

/**
 * Expressions that take more than linear time in JavaScript. RE2 takes linear time for them, but microseconds per
 * character, so that it reads a limited part of the text.
 */
const slowRules = new Set(['curl-auth-header', 'curl-auth-user', 'kubernetes-secret-yaml', 'nuget-config-password']);
const maxSlowCharacters = 8_192;
/** A match may begin before its keyword. */
const maxCharactersBefore = 1_024;

/** Maximum repetitions of an expression without a limit of its own */
const maxPrefixLength = 50;

const isNameCharacter = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x5f ||
  code === 0x2e ||
  code === 0x2d;

/** Returns where the name before a keyword begins, which an expression without its prefix does not match. */
const findNameStart = (text: string, keywordStart: number, min: number): number => {
  let start = keywordStart;
  while (start > min && keywordStart - start < maxPrefixLength && isNameCharacter(text.charCodeAt(start - 1))) start--;
  return start;
};

const selectSecret = (match: RegExpExecArray, secretGroup: number): string =>
  secretGroup > 0 ? (match[secretGroup] ?? '') : (match.slice(1).find(Boolean) ?? match[0]);

const createNativeFinder = (regex: string, secretGroup: number): SecretRule['findMatches'] => {
  const { source, hasPrefix } = removeNamePrefix(regex);
  const expression = new RegExp(translateExpression(source), 'g');
  return (text) => {
    const matches: ExpressionMatch[] = [];
    let previousEnd = 0;
    for (const match of text.matchAll(expression)) {
      const start = hasPrefix ? findNameStart(text, match.index, previousEnd) : match.index;
      previousEnd = match.index + match[0].length;
      matches.push({ start, end: previousEnd, secret: selectSecret(match, secretGroup) });
    }
    return matches;
  };
};

const createSlowFinder = (
  regex: string,
  keywords: readonly string[],
  secretGroup: number,
): SecretRule['findMatches'] => {
  let compiled: RE2JS | undefined;
  return (text) => {
    compiled ??= RE2JS.compile(regex);
    const lowerCase = text.toLowerCase();
    const positions = keywords.map((word) => lowerCase.indexOf(word)).filter((position) => position >= 0);
    if (positions.length === 0) return [];
    const offset = Math.max(0, Math.min(...positions) - maxCharactersBefore);
    const part = text.slice(offset, offset + maxSlowCharacters);
    const matcher = compiled.matcher(part);
    const matches: ExpressionMatch[] = [];
    while (matcher.find()) {
      const groups = Array.from({ length: matcher.groupCount() }, (_, index) => matcher.group(index + 1) ?? '');
      const match = matcher.group() ?? '';
      const secret = secretGroup > 0 ? (groups[secretGroup - 1] ?? '') : (groups.find(Boolean) ?? match);
      matches.push({ start: offset + matcher.start(), end: offset + matcher.end(), secret });
    }
    return matches;
  };
};

/** Characters between the name and the operator, in the expressions that have a name */
const nameEnd = String.raw`(?:[ \t\w.-]{0,20})`;

/** Returns whether a keyword is in the name before the operator of an expression. */
const isNameInExpression = (keyword: string, regex: string): boolean => {
  const { source, hasPrefix } = removeNamePrefix(regex);
  if (!hasPrefix || !source.includes(nameEnd)) return false;
  const names = source.slice(0, source.indexOf(nameEnd));
  if (names.toLowerCase().includes(keyword)) return true;
  const isOpen = names.startsWith('(?i:');
  return new RegExp(translateExpression(isOpen ? `${names})` : names)).test(keyword);
};

const toRule = ({
  id,
  description,
  regex,
  keywords,
  entropy = 0,
  secretGroup = 0,
  path,
  allowlists = [],
}: StoredRule) =>
  regex === undefined
    ? []
    : [
        {
          id,
          description,
          keywords: keywords.map((word) => word.toLowerCase()),
          minEntropy: entropy,
          allowlists: toAllowlists(allowlists),
          isGeneric: id === 'generic-api-key',
          hasNamedValue: keywords.every((word) => isNameInExpression(word.toLowerCase(), regex)),
          path: path === undefined ? undefined : new RegExp(translateExpression(path)),
          findMatches: slowRules.has(id)
            ? createSlowFinder(regex, keywords, secretGroup)
            : createNativeFinder(regex, secretGroup),
        } satisfies SecretRule,
      ];

const createOwnRule = (id: string, description: string, keyFormat: KeyFormat): SecretRule => ({
  id,
  description,
  keywords: [keyFormat.prefix],
  minEntropy: 0,
  allowlists: [],
  isGeneric: false,
  hasNamedValue: false,
  path: undefined,
  keyFormat,
  findMatches: createNativeFinder(String.raw`\b${keyFormat.prefix}[0-9A-Za-z]{36}\b`, 0),
});

/** Keys of this platform. Keys of browsers are public. */
export const ownRules: readonly SecretRule[] = [
  createOwnRule(
    'oiq-license-key',
    'A license key of this platform, which allows sending telemetry.',
    createKeyFormat('oiq_lk_'),
  ),
  createOwnRule(
    'oiq-api-token',
    'An API token of this platform, which allows using the management API.',
    apiTokenFormat,
  ),
  createOwnRule('oiq-heartbeat-token', 'A token of a heartbeat check of this platform.', heartbeatTokenFormat),
];

/** All rules. Those for files by their name alone have no expression, and are left out. */
export const secretRules: readonly SecretRule[] = [
  ...ownRules,
  ...(gitleaks.rules as readonly StoredRule[]).flatMap(toRule),
];

/** Values that are not secrets for any rule */
export const globalAllowlists: readonly Allowlist[] = toAllowlists(gitleaks.allowlists as readonly StoredAllowlist[]);
