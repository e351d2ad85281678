/** Formats of variable values, as described in Grafana's documentation. */
import { formatTimeText } from '../time-text.ts';
import type { VariableValue } from './scope.ts';

/** Escapes a text for RE2 and JavaScript regular expressions. */
export const escapeRegex = (text: string): string => text.replaceAll(/[\\^$*+?.()|{}[\]]/g, (sign) => `\\${sign}`);

/** Returns a regular expression that matches any of the texts. */
export const buildRegexChoice = (texts: readonly string[]): string => {
  const escaped = texts.map(escapeRegex);
  return escaped.length === 1 ? (escaped[0] as string) : `(${escaped.join('|')})`;
};

const percentEncode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const escapeLucene = (text: string): string => text.replaceAll(/[-+=&|><!(){}[\]^"~*?:\\/ ]/g, (sign) => `\\${sign}`);

const formatLucene = (values: readonly string[]): string => {
  if (values.length === 0) return '__empty__';
  if (values.length === 1) return escapeLucene(values[0] as string);
  return `(${values.map((value) => `"${value.replaceAll(/[\\"]/g, (sign) => `\\${sign}`)}"`).join(' OR ')})`;
};

const formatGlob = (values: readonly string[]): string =>
  values.length === 1 ? (values[0] as string) : `{${values.join(',')}}`;

const createQuotedFormat = (quote: string, doubled: string) => (values: readonly string[]) =>
  values.map((value) => `${quote}${value.replaceAll(quote, doubled)}${quote}`).join(',');

type Format = (values: readonly string[], usage: { name: string; argument: string; value: VariableValue }) => string;

const formats: Readonly<Record<string, Format>> = {
  csv: (values) => values.join(','),
  date: (values, { argument }) => values.map((value) => formatTimeText(Number(value), argument)).join(','),
  distributed: (values, { name }) => values.map((value, index) => (index === 0 ? value : `${name}=${value}`)).join(','),
  doublequote: createQuotedFormat('"', '\\"'),
  glob: formatGlob,
  json: (values, { value }) => (value.isList ? JSON.stringify(values) : (values[0] ?? '')),
  lucene: formatLucene,
  percentencode: (values) => percentEncode(values.join(',')),
  pipe: (values) => values.join('|'),
  queryparam: (values, { name }) =>
    values.map((value) => `var-${percentEncode(name)}=${percentEncode(value)}`).join('&'),
  raw: (values) => values.join(','),
  regex: buildRegexChoice,
  singlequote: createQuotedFormat("'", "\\'"),
  sqlstring: createQuotedFormat("'", "''"),
  text: (values, { value }) => (value.titles ?? values).join(' + '),
  uriencode: (values) => encodeURIComponent(values.join(',').toWellFormed()),
};

/** Formats a value. An unknown format is treated as `glob`, as in Grafana. */
export const formatValue = (value: VariableValue, name: string, format = 'glob'): string => {
  const [kind = '', ...argument] = format.split(':');
  const formatValues = Object.hasOwn(formats, kind) ? (formats[kind] as Format) : formatGlob;
  return formatValues(value.values, { name, argument: argument.join(':'), value });
};
