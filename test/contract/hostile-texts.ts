/** Texts that are expensive to parse: each is as long as a field allows. */
import { type Schema, sampleOf } from './schema-values.ts';

/** A text of at most the given length. */
export type TextOf = (length: number) => string;

const repeated =
  (piece: string, before = '', after = ''): TextOf =>
  (length) => {
    const times = Math.max(0, Math.floor((length - before.length - after.length) / piece.length));
    return `${before}${piece.repeat(times)}${after}`;
  };

/** Numbered parts, because keys and names must be unique. */
const numbered =
  (piece: (index: number) => string, before = '', after = ''): TextOf =>
  (length) => {
    const pieces: string[] = [];
    let left = length - before.length - after.length;
    for (let index = 0; ; index++) {
      const next = piece(index);
      left -= next.length;
      if (left < 0) break;
      pieces.push(next);
    }
    return `${before}${pieces.join('')}${after}`;
  };

/** Hostile content for every text field. */
export const plainTexts: Readonly<Record<string, TextOf>> = {
  'quotation marks': repeated('"'),
  apostrophes: repeated("'"),
  spaces: repeated(' ', 'a', 'a'),
  'comments of tabs': repeated('#\t'),
  'opening brackets': repeated('([{'),
  'pairs of brackets': repeated('()'),
  digits: repeated('0', '', 'x'),
  'one letter': repeated('a', '', '!'),
  'templates that begin': repeated('{{'),
  'a template of spaces': repeated(' ', '{{'),
  backslashes: repeated('\\'),
  slashes: repeated('/'),
  stars: repeated('*a'),
  commas: repeated(','),
  dots: repeated('a.'),
  'at signs': repeated('@a'),
  hyphens: repeated('-'),
  'line breaks': repeated('\n'),
  'marks upon a letter': repeated('\u0301', 'e'),
};

const conditions = (between: string, of: (index: number) => string): TextOf =>
  numbered((index) => `${between}${of(index)}`, of(0));

/** Texts whose start is valid for a grammar, and that are then very long. */
export const structuredTexts: Readonly<Record<string, TextOf>> = {
  alternatives: conditions(' or ', () => 'a'),
  'alternatives of a search': conditions(' OR ', (index) => `field${index}:a*b*`),
  'a search of quoted words': conditions(' ', () => '"a'),
  'sums of PromQL': conditions('+', () => '1'),
  'matchers of PromQL': numbered((index) => `a${index}="b",`, '{', '}'),
  'functions of PromQL': repeated('abs(', '', ''),
  'operators of PromQL': conditions(' or ', () => 'up'),
  'an expression of letters': repeated('(a|a)*', 'up{a=~"', '"}'),
  'keys of YAML': numbered((index) => `k${index}: 1\n`),
  'a flow map of YAML': numbered((index) => `k${index}: 1, `, '{', '}'),
  'a flow list of YAML': repeated('a, ', '[', ']'),
  'a deep list of YAML': repeated('['),
  'a list of YAML': repeated('- a\n'),
  'documents of YAML': repeated('---\na: 1\n'),
  'aliases of YAML': repeated('- *a\n', 'x: &a [a]\ny:\n'),
  'a quoted text of YAML': repeated('\\\n ', 'a: "', '"'),
  'a Sigma rule of many keys': numbered(
    (index) => `    k${index}: 1\n`,
    'title: a\nlogsource: { product: linux }\ndetection:\n  condition: a\n  a:\n',
  ),
  'a Sigma rule of many values': numbered(
    (index) => `      - '*v${index}*'\n`,
    'title: a\nlogsource: { product: linux }\ndetection:\n  condition: a\n  a:\n    b|contains:\n',
  ),
  'a Sigma rule of many selections': numbered(
    (index) => `  a${index}: { b: c }\n`,
    'title: a\nlogsource: { product: linux }\ndetection:\n  condition: all of a*\n',
  ),
  'a Sigma rule of many conditions': repeated(
    ' or a',
    'title: a\nlogsource: { product: linux }\ndetection:\n  a: { b: c }\n  condition: a',
  ),
  'a Sigma rule of expressions': numbered(
    (index) => `      - '(a|b)*${index}'\n`,
    'title: a\nlogsource: { product: linux }\ndetection:\n  condition: a\n  a:\n    b|re:\n',
  ),
  'many Sigma rules': numbered(
    (index) => `---\ntitle: a${index}\nlogsource: { product: linux }\ndetection: { a: { b: c }, condition: a }\n`,
  ),
  'routes of Alertmanager': numbered(
    (index) => `  - matchers: ['a${index}="b"']\n`,
    'receivers: [{ name: a }]\nroute:\n  receiver: a\n  routes:\n',
  ),
  'receivers of Alertmanager': numbered((index) => `  - name: a${index}\n`, 'route: { receiver: a0 }\nreceivers:\n'),
  'rules of Prometheus': numbered(
    (index) => `  - { alert: a${index}, expr: up == 0 }\n`,
    'groups:\n- name: a\n  rules:\n',
  ),
  'one rule of Prometheus': repeated('+1', 'groups: [{ name: a, rules: [{ alert: a, expr: 1', ' }] }]'),
  'annotations of Prometheus': repeated(
    '{{ $value }}',
    'groups: [{ name: a, rules: [{ alert: a, expr: up, annotations: { a: "',
    '" } }] }]',
  ),
  'values of a template': repeated('{{ $value }}'),
  'ranges of a template': repeated('{{ range $a := .A }}'),
  'pipes of a template': repeated(' | toUpper', '{{ $value', ' }}'),
  'parentheses of a template': repeated('(', '{{ '),
  'fields of CSV': repeated('"a",'),
  'lines of CSV': numbered((index) => `domain,a${index}.example\n`, 'type,value\n'),
  'quoted lines of CSV': numbered((index) => `"domain","a""${index}.example"\n`, '"type","value"\n'),
  addresses: numbered((index) => `10.${index % 256}.${(index >> 8) % 256}.1\n`),
  domains: numbered((index) => `a${index}.example\n`),
  'a bundle of STIX': numbered(
    (index) =>
      `{"type":"indicator","id":"indicator--${index}","pattern_type":"stix","pattern":"[domain-name:value = 'a${index}.example']"},`,
    '{"type":"bundle","objects":[',
    '{}]}',
  ),
  'a pattern of STIX': repeated(
    " OR [ipv4-addr:value = '10.0.0.1']",
    '{"type":"bundle","objects":[{"type":"indicator","id":"indicator--1","pattern_type":"stix","pattern":"[a:b = \'c\']',
    '"}]}',
  ),
  'a deep document of JSON': repeated('[', '{"a":'),
  'keys of JSON': numbered((index) => `"k${index}":1,`, '{', '"k":1}'),
};

/** A text field of a schema, and how to build a whole value with a given text in it. */
export interface TextField {
  readonly path: string;
  /** Declared maximum length; undefined if only the body size limits it. */
  readonly maxLength: number | undefined;
  readonly placed: (text: string) => unknown;
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const longText = 1_024;

interface At {
  readonly path: string;
  readonly base: unknown;
  readonly place: (value: unknown) => unknown;
}

/** The value, if it belongs to this alternative according to the discriminator. */
const baseOf = (schema: Schema, base: unknown): unknown => {
  const sample = sampleOf(schema);
  if (!isFields(sample) || !isFields(base)) return sample;
  const fixed = Object.entries(schema.properties ?? {}).filter(([, field]) => field.const !== undefined);
  return fixed.every(([name, field]) => base[name] === field.const) ? { ...sample, ...base } : sample;
};

/** Every text field within the schema, at any depth, including arbitrary keys. `base` holds the rest of the value. */
export function* textFields(schema: Schema, at: At): Generator<TextField> {
  const { path, base, place } = at;
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  for (const [index, choice] of choices.entries())
    yield* textFields(choice, { ...at, path: `${path}<${index}>`, base: baseOf(choice, base) });
  const types = [schema.type].flat();
  const isOpen = schema.type === undefined && choices.length === 0 && schema.properties === undefined;
  if ((types.includes('string') || isOpen) && schema.enum === undefined && schema.const === undefined)
    yield { path, maxLength: schema.maxLength, placed: place };
  if (schema.items !== undefined)
    yield* textFields(schema.items, {
      path: `${path}[]`,
      place: (value) => place([value]),
      base: (base as readonly unknown[] | undefined)?.[0] ?? sampleOf(schema.items),
    });
  const fields = isFields(base) ? base : {};
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    yield* textFields(field, {
      path: `${path}.${name}`,
      base: fields[name] ?? sampleOf(field),
      place: (value) => place({ ...fields, [name]: value }),
    });
  if (isFields(schema.additionalProperties)) {
    const inner = schema.additionalProperties as Schema;
    yield* textFields(inner, {
      path: `${path}.*`,
      base: sampleOf(inner),
      place: (value) => place({ ...fields, a: value }),
    });
    yield {
      path: `${path}.(key)`,
      maxLength: undefined,
      placed: (text) => place({ ...fields, [text]: sampleOf(inner) }),
    };
  }
}

/** Whether the field allows long texts, such as documents. */
export const isLong = ({ maxLength = Number.POSITIVE_INFINITY }: TextField): boolean => maxLength >= longText;
