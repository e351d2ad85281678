/**
 * SQL of the normalized form and the digest of a database statement. ClickHouse's `normalizeQuery` removes comments and
 * literals. A statement has the same digest in spans, logs and metrics, and ClickHouse can group by it.
 */
import { quoteString } from '../../schemas/tables/literal.ts';

/** Version of the steps below. It is part of a digest, since digests of two versions are not comparable. */
const version = 1;

/** Products in which double quotes enclose a text instead of a name. */
const systemsWithQuotedTexts = ['mysql', 'mariadb', 'clickhouse', 'hive', 'trino'];
/** Products whose statements are JSON. */
const jsonSystems = ['mongodb', 'elasticsearch', 'opensearch', 'couchdb', 'azure.cosmosdb', 'aws.dynamodb'];
/** Products whose statements are commands with arguments. */
const commandSystems = ['redis', 'memcached', 'valkey'];

const buildIsOneOfSql = (system: string, systems: readonly string[]): string =>
  `${system} IN (${systems.map(quoteString).join(', ')})`;

/** Regular expression replacements (RE2), in order. A `?` represents any number of values. */
const normalizationSteps: readonly (readonly [pattern: string, replacement: string])[] = [
  // Quotes of any kind are removed from names that do not need them.
  ['[`"\\[]([A-Za-z_][A-Za-z0-9_$]*)[`"\\]]', '\\1'],
  // Parameters: $1, :name, @p1, %s, %(name)s. A double colon is a cast.
  ['\\$[0-9]+|%s|%\\([A-Za-z_0-9]+\\)s|@[pP][0-9]+', '?'],
  ['(^|[^:A-Za-z0-9_]):[A-Za-z_][A-Za-z0-9_]*', '\\1?'],
  // Texts with a prefix character, signs of numbers, and `true`, `false` and `null`, which may occur in place of any
  // value.
  ['\\b[nNeEbBxX]\\?', '?'],
  ['([=(,<>]\\s*)[-+]\\s*\\?', '\\1?'],
  ['([=(,<>]\\s*)(?i:true|false|null)\\b', '\\1?'],
  ['\\s+', ' '],
  [' ?([(),=<>]) ?', '\\1'],
  // Lists of values, and nested lists.
  ['\\?(?:\\.\\.)?(?:,\\?(?:\\.\\.)?)*', '?'],
  ['\\(\\?\\)(?:,\\(\\?\\))*', '(?)'],
  ['[; ]+$', ''],
];

const buildNormalizeSql = (text: string): string =>
  normalizationSteps.reduce(
    (sql, [pattern, replacement]) => `replaceRegexpAll(${sql}, ${quoteString(pattern)}, ${quoteString(replacement)})`,
    text,
  );

/**
 * Returns the SQL expression of whether a text was truncated inside a literal, or by its sender. Its remainder is
 * unknown, so its normalized form is marked as incomplete.
 */
const buildIsTruncatedSql = (text: string): string =>
  `(countSubstrings(replaceAll(${text}, '\\\\\\'', ''), '\\'') % 2 = 1 OR endsWith(${text}, '...') OR endsWith(${text}, '…'))`;

/**
 * Removes quotes from the member names of a JSON text, and replaces each text with `?`. Escapes are replaced first, so
 * that the end of each text is recognizable.
 */
const buildMaskJsonSql = (text: string): string => {
  const withoutEscapes = `replaceRegexpAll(${text}, ${quoteString('(?s)\\\\.')}, '_')`;
  const unquotedNames = `replaceRegexpAll(${withoutEscapes}, ${quoteString('"([^"]*)"\\s*:')}, '\\\\1:')`;
  return `replaceRegexpAll(${unquotedNames}, ${quoteString('"[^"]*("|$)')}, '?')`;
};

/** Suffix of a truncated statement's form. */
export const truncationMark = ' …';

/**
 * Returns the SQL expression of a statement's normalized form. `text` and `system` (the result of `systemExpression`) are
 * expressions of the row. Both are used several times, so they should be columns of a subquery.
 */
export const buildStatementFormSql = (text: string, system: string): string => {
  const maskedSql = `multiIf(
    ${buildIsOneOfSql(system, jsonSystems)}, ${buildMaskJsonSql(text)},
    ${buildIsOneOfSql(system, systemsWithQuotedTexts)}, replaceRegexpAll(${text}, ${quoteString('"(?:[^"\\\\]|\\\\.|"")*"')}, '?'),
    ${text})`;
  const sql = `lower(${buildNormalizeSql(`normalizeQuery(${maskedSql})`)})`;
  const command = `lower(replaceRegexpOne(trimBoth(${text}), ${quoteString('(?s)^(\\S+)\\s.*$')}, '\\\\1 ?'))`;
  return `concat(if(${buildIsOneOfSql(system, commandSystems)}, ${command}, ${sql}), if(${buildIsTruncatedSql(text)}, ${quoteString(truncationMark)}, ''))`;
};

/**
 * Returns the SQL expression of a normalized form's digest, which is the same in all telemetry signals for one product.
 */
export const buildStatementDigestSql = (form: string, system: string): string =>
  `concat('q${version}-', lower(hex(cityHash64(${system}, ${form}))))`;
