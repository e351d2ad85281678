/** Templates in texts of checks: `{{variables.host}}`, `{{values.token}}`, `{{uuid}}`, `{{time}}`, `{{seconds}}`, `{{code.secret}}`. */
import { createHmac, randomUUID } from 'node:crypto';

/** Names of variables, and of values that steps extract. */
export const templateName = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** What a template asks: a variable of the organization, a value of a step before, a one-time code of a variable, or what is made anew. */
export interface TemplateUse {
  readonly kind: 'variables' | 'values' | 'code' | 'uuid' | 'time' | 'seconds';
  /** Empty for what is made anew. */
  readonly name: string;
}

const named = ['variables', 'values', 'code'] as const;
const made = ['uuid', 'time', 'seconds'] as const;

interface Found {
  readonly from: number;
  readonly to: number;
  readonly expression: string;
}

/** The templates of a text: from the last `{{` before each `}}`. */
const templatesIn = (text: string): readonly Found[] => {
  const found: Found[] = [];
  for (let at = 0; ; ) {
    const close = text.indexOf('}}', at);
    if (close < 0) return found;
    const open = text.lastIndexOf('{{', close - 2);
    if (close >= 2 && open >= at) found.push({ from: open, to: close + 2, expression: text.slice(open + 2, close) });
    at = close + 2;
  }
};

const useOf = (expression: string): TemplateUse | string => {
  const text = expression.trim();
  const kind = made.find((one) => one === text);
  if (kind !== undefined) return { kind, name: '' };
  const [first = '', name = ''] = [text.slice(0, text.indexOf('.')), text.slice(text.indexOf('.') + 1)];
  const source = named.find((one) => one === first);
  if (source !== undefined && templateName.test(name)) return { kind: source, name };
  return `has {{${text}}}, which is none of {{variables.NAME}}, {{values.NAME}}, {{code.NAME}}, {{${made.join('}}, {{')}}}`;
};

/** What a text asks for; a text says what is wrong with one. */
export const templateUses = (text: string): readonly (TemplateUse | string)[] =>
  templatesIn(text).map(({ expression }) => useOf(expression));

/** The variables that a text needs. */
export const variablesIn = (text: string): readonly string[] =>
  templateUses(text).flatMap((use) =>
    typeof use !== 'string' && (use.kind === 'variables' || use.kind === 'code') ? [use.name] : [],
  );

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

const bytesOf = (secret: string): Buffer => {
  const bits = [...secret.toUpperCase().replace(/[\s=-]/g, '')]
    .map((char) => Math.max(0, base32.indexOf(char)).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
};

/** The one-time code of a moment (RFC 6238: SHA-1, 30 seconds, six digits) of a secret in base32. */
export const oneTimeCode = (secret: string, nowMs: number): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(nowMs / 30_000)));
  const digest = createHmac('sha1', bytesOf(secret)).update(counter).digest();
  const code = digest.readUInt32BE((digest.at(-1) ?? 0) & 0xf) & 0x7fff_ffff;
  return String(code % 1_000_000).padStart(6, '0');
};

/** Where values of templates come from. */
export interface TemplateValues {
  readonly variables: Readonly<Record<string, string>>;
  /** What steps extracted so far. */
  readonly values: Readonly<Record<string, string>>;
  readonly nowMs: number;
}

const templateValue = (
  { kind, name }: TemplateUse,
  { variables, values, nowMs }: TemplateValues,
): string | undefined => {
  switch (kind) {
    case 'variables':
      return Object.hasOwn(variables, name) ? variables[name] : undefined;
    case 'values':
      return Object.hasOwn(values, name) ? values[name] : undefined;
    case 'code':
      return Object.hasOwn(variables, name) ? oneTimeCode(variables[name] ?? '', nowMs) : undefined;
    case 'uuid':
      return randomUUID();
    case 'time':
      return new Date(nowMs).toISOString();
    default:
      return String(Math.floor(nowMs / 1000));
  }
};

/** What a template needs is not there, though the check was accepted. */
export class TemplateValueError extends Error {
  override name = 'TemplateValueError';
}

/** The text with its values. Values are taken as they are: what looks like a template in them is none. Throws `TemplateValueError`. */
export const rendered = (text: string, values: TemplateValues): string => {
  let written = '';
  let at = 0;
  for (const { from, to, expression } of templatesIn(text)) {
    const use = useOf(expression);
    const value = typeof use === 'string' ? undefined : templateValue(use, values);
    if (value === undefined) throw new TemplateValueError(`${text.slice(from, to)} has no value`);
    written += text.slice(at, from) + value;
    at = to;
  }
  return written + text.slice(at);
};

/** A text somewhere in settings, with its path. */
export interface TextAt {
  readonly path: string;
  readonly text: string;
}

/** All texts of settings. Names of fields of records, such as headers, hold no templates. */
export const textsIn = (settings: unknown, path = ''): readonly TextAt[] => {
  if (typeof settings === 'string') return [{ path, text: settings }];
  if (typeof settings !== 'object' || settings === null) return [];
  return Object.entries(settings).flatMap(([name, value]) => textsIn(value, path === '' ? name : `${path}.${name}`));
};

/** Settings with all their texts rendered. */
export const renderedIn = <Settings>(settings: Settings, values: TemplateValues): Settings => {
  const render = (value: unknown): unknown => {
    if (typeof value === 'string') return rendered(value, values);
    if (Array.isArray(value)) return value.map(render);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, render(inner)]));
  };
  return render(settings) as Settings;
};
