/**
 * The normalised form of a database statement, and its digest, as SQL: what the engine's own `normalizeQuery` makes of a text (comments
 * and literals gone), so that one text has one digest in spans, logs and metrics alike, and grouping happens where the rows are.
 */
import { quote } from '../../schemas/tables/literal.ts';

/** Of the steps below. A digest names it, since digests of two versions say nothing about each other. */
const version = 1;

/** Where double quotes hold a text and not a name. */
const quotesHoldTexts = ['mysql', 'mariadb', 'clickhouse', 'hive', 'trino'];
/** Where a statement is JSON. */
const json = ['mongodb', 'elasticsearch', 'opensearch', 'couchdb', 'azure.cosmosdb', 'aws.dynamodb'];
/** Where a statement is a command with arguments. */
const commands = ['redis', 'memcached', 'valkey'];

const among = (system: string, systems: readonly string[]): string => `${system} IN (${systems.map(quote).join(', ')})`;

/** Steps by regular expressions (RE2), in order. A `?` stands for any number of values. */
const steps: readonly (readonly [pattern: string, replacement: string])[] = [
  // Names in quotes of any kind are what they are without, where they could be.
  ['[`"\\[]([A-Za-z_][A-Za-z0-9_$]*)[`"\\]]', '\\1'],
  // Parameters: $1, :name, @p1, %s, %(name)s. Two colons are a cast.
  ['\\$[0-9]+|%s|%\\([A-Za-z_0-9]+\\)s|@[pP][0-9]+', '?'],
  ['(^|[^:A-Za-z0-9_]):[A-Za-z_][A-Za-z0-9_]*', '\\1?'],
  // Texts with a letter of their kind before them, signs of numbers, and `true`, `false` and `null`, which stand where any value may.
  ['\\b[nNeEbBxX]\\?', '?'],
  ['([=(,<>]\\s*)[-+]\\s*\\?', '\\1?'],
  ['([=(,<>]\\s*)(?i:true|false|null)\\b', '\\1?'],
  ['\\s+', ' '],
  [' ?([(),=<>]) ?', '\\1'],
  // Lists of values, and lists of such lists.
  ['\\?(?:\\.\\.)?(?:,\\?(?:\\.\\.)?)*', '?'],
  ['\\(\\?\\)(?:,\\(\\?\\))*', '(?)'],
  ['[; ]+$', ''],
];

const replaced = (text: string): string =>
  steps.reduce(
    (sql, [pattern, replacement]) => `replaceRegexpAll(${sql}, ${quote(pattern)}, ${quote(replacement)})`,
    text,
  );

/** Whether a text was cut inside a literal or by its sender: what follows is not known, so its form is that of no whole statement. */
const isCut = (text: string): string =>
  `(countSubstrings(replaceAll(${text}, '\\\\\\'', ''), '\\'') % 2 = 1 OR endsWith(${text}, '...') OR endsWith(${text}, '…'))`;

/** Names of a JSON text's members without quotes, and a `?` for each text. Escapes go first: none hides where a text ends. */
const jsonMasked = (text: string): string => {
  const escaped = `replaceRegexpAll(${text}, ${quote('(?s)\\\\.')}, '_')`;
  const named = `replaceRegexpAll(${escaped}, ${quote('"([^"]*)"\\s*:')}, '\\\\1:')`;
  return `replaceRegexpAll(${named}, ${quote('"[^"]*("|$)')}, '?')`;
};

/** What ends the form of a statement that was cut. */
export const cutMark = ' …';

/**
 * SQL of a statement's normalised form. `text` and `system` (as `systemOf` names it) are expressions of the row; both are spelt several
 * times, so they should be columns of a subquery.
 */
export const statementForm = (text: string, system: string): string => {
  const masked = `multiIf(
    ${among(system, json)}, ${jsonMasked(text)},
    ${among(system, quotesHoldTexts)}, replaceRegexpAll(${text}, ${quote('"(?:[^"\\\\]|\\\\.|"")*"')}, '?'),
    ${text})`;
  const sql = `lower(${replaced(`normalizeQuery(${masked})`)})`;
  const command = `lower(replaceRegexpOne(trimBoth(${text}), ${quote('(?s)^(\\S+)\\s.*$')}, '\\\\1 ?'))`;
  return `concat(if(${among(system, commands)}, ${command}, ${sql}), if(${isCut(text)}, ${quote(cutMark)}, ''))`;
};

/** SQL of the digest of a normalised form: the same in every signal, for one product. */
export const statementDigest = (form: string, system: string): string =>
  `concat('q${version}-', lower(hex(cityHash64(${system}, ${form}))))`;
