/**
 * Templates in texts of checks: `{{variables.host}}`, `{{values.token}}`, `{{uuid}}`, `{{time}}`, `{{seconds}}`,
 * `{{code.secret}}`
 */
import { createHmac, randomUUID } from 'node:crypto';
import { bodyEncoding, type EncodeValue, encodeInUrl } from './template-contexts.ts';

/** Pattern of names of variables, and of values that steps extract */
export const templateNamePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/**
 * Source of a template's value: a variable of the organization, a value of an earlier step, a one-time code of a
 * variable, or a generated value
 */
export interface TemplateUse {
  readonly kind: 'variables' | 'values' | 'code' | 'uuid' | 'time' | 'seconds';
  /** Name; empty for generated values */
  readonly name: string;
}

const namedKinds = ['variables', 'values', 'code'] as const;
const generatedKinds = ['uuid', 'time', 'seconds'] as const;

interface TemplateMatch {
  readonly from: number;
  readonly to: number;
  readonly expression: string;
}

/** Returns the templates of a text: from the last `{{` before each `}}`. */
const findTemplates = (text: string): readonly TemplateMatch[] => {
  const templates: TemplateMatch[] = [];
  for (let at = 0; ; ) {
    const closeIndex = text.indexOf('}}', at);
    if (closeIndex < 0) return templates;
    const openIndex = text.lastIndexOf('{{', closeIndex - 2);
    if (closeIndex >= 2 && openIndex >= at)
      templates.push({ from: openIndex, to: closeIndex + 2, expression: text.slice(openIndex + 2, closeIndex) });
    at = closeIndex + 2;
  }
};

const parseUse = (expression: string): TemplateUse | string => {
  const text = expression.trim();
  const kind = generatedKinds.find((generatedKind) => generatedKind === text);
  if (kind !== undefined) return { kind, name: '' };
  const [first = '', name = ''] = [text.slice(0, text.indexOf('.')), text.slice(text.indexOf('.') + 1)];
  const source = namedKinds.find((namedKind) => namedKind === first);
  if (source !== undefined && templateNamePattern.test(name)) return { kind: source, name };
  return `contains {{${text}}}, which is not one of {{variables.NAME}}, {{values.NAME}}, {{code.NAME}}, {{${generatedKinds.join('}}, {{')}}}`;
};

/** Returns the templates of a text; a string is an error message. */
export const parseTemplateUses = (text: string): readonly (TemplateUse | string)[] =>
  findTemplates(text).map(({ expression }) => parseUse(expression));

/** Returns the variables that a text needs. */
export const findVariables = (text: string): readonly string[] =>
  parseTemplateUses(text).flatMap((use) =>
    typeof use !== 'string' && (use.kind === 'variables' || use.kind === 'code') ? [use.name] : [],
  );

/** Returns the values of earlier steps that a text needs. */
export const findValueNames = (text: string): readonly string[] =>
  parseTemplateUses(text).flatMap((use) => (typeof use !== 'string' && use.kind === 'values' ? [use.name] : []));

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

const decodeBase32 = (secret: string): Buffer => {
  const bits = [...secret.toUpperCase().replace(/[\s=-]/g, '')]
    .map((char) => Math.max(0, base32.indexOf(char)).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
};

/** Returns the one-time code at a time (RFC 6238: SHA-1, 30 seconds, six digits) for a base32 secret. */
export const computeOneTimeCode = (secret: string, nowMs: number): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(nowMs / 30_000)));
  const digest = createHmac('sha1', decodeBase32(secret)).update(counter).digest();
  const code = digest.readUInt32BE((digest.at(-1) ?? 0) & 0xf) & 0x7fff_ffff;
  return String(code % 1_000_000).padStart(6, '0');
};

/** Sources of template values */
export interface TemplateValues {
  readonly variables: Readonly<Record<string, string>>;
  /** Values extracted by previous steps */
  readonly values: Readonly<Record<string, string>>;
  readonly nowMs: number;
  /** Called with each one-time code that a text contains, and its variable. */
  onCode?(code: string, variable: string): void;
}

const resolveValue = (
  { kind, name }: TemplateUse,
  { variables, values, nowMs, onCode }: TemplateValues,
): string | undefined => {
  switch (kind) {
    case 'variables':
      return Object.hasOwn(variables, name) ? variables[name] : undefined;
    case 'values':
      return Object.hasOwn(values, name) ? values[name] : undefined;
    case 'code': {
      if (!Object.hasOwn(variables, name)) return undefined;
      const code = computeOneTimeCode(variables[name] ?? '', nowMs);
      onCode?.(code, name);
      return code;
    }
    case 'uuid':
      return randomUUID();
    case 'time':
      return new Date(nowMs).toISOString();
    default:
      return String(Math.floor(nowMs / 1000));
  }
};

/** Thrown if a template's value is missing although the check was accepted */
export class TemplateValueError extends Error {
  override name = 'TemplateValueError';
}

/**
 * Renders a text. Values are inserted as `encode` returns them, by default as they are, and templates in them are not
 * evaluated. Throws `TemplateValueError`.
 */
export const renderText = (text: string, values: TemplateValues, encode: EncodeValue = (value) => value): string => {
  let result = '';
  let at = 0;
  for (const { from, to, expression } of findTemplates(text)) {
    const use = parseUse(expression);
    const value = typeof use === 'string' ? undefined : resolveValue(use, values);
    if (value === undefined) throw new TemplateValueError(`${text.slice(from, to)} has no value`);
    result += text.slice(at, from) + encode(value, text.slice(0, from), text.slice(to));
    at = to;
  }
  return result + text.slice(at);
};

/** Fields with user-defined keys */
const recordFields: ReadonlySet<string> = new Set(['headers', 'metadata']);

/** A text in settings, with its path */
export interface TextWithPath {
  readonly path: string;
  readonly text: string;
}

/** Returns all texts of settings. Keys of records, such as header names, contain no templates. */
export const listTexts = (settings: unknown, path = ''): readonly TextWithPath[] => {
  if (typeof settings === 'string') return [{ path, text: settings }];
  if (typeof settings !== 'object' || settings === null) return [];
  return Object.entries(settings).flatMap(([name, value]) => listTexts(value, path === '' ? name : `${path}.${name}`));
};

const findContentType = (headers: unknown): string => {
  if (typeof headers !== 'object' || headers === null) return '';
  const [, value] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type') ?? [];
  return typeof value === 'string' ? value : '';
};

/** Returns the encoding of values in a field, by its name and the fields next to it. */
const fieldEncoding = (name: string, text: string, siblings: object): EncodeValue | undefined => {
  if (name === 'url' || name === 'tokenUrl') return encodeInUrl;
  if (name !== 'body' && name !== 'send') return undefined;
  return bodyEncoding(text, 'headers' in siblings ? findContentType(siblings.headers) : '');
};

/** Returns settings with all texts rendered. Values are encoded in URLs, JSON and forms. */
export const renderAll = <Settings>(settings: Settings, values: TemplateValues): Settings => {
  const render = (value: unknown, name: string, siblings: object): unknown => {
    if (typeof value === 'string') return renderText(value, values, fieldEncoding(name, value, siblings));
    if (Array.isArray(value)) return value.map((inner) => render(inner, '', {}));
    if (typeof value !== 'object' || value === null) return value;
    // Header names are not field names.
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, render(inner, recordFields.has(name) ? '' : key, value)]),
    );
  };
  return render(settings, '', {}) as Settings;
};
