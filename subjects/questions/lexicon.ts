/** Index of names and values of one telemetry signal or metric by words */

import { signalDefinitions } from '../../queries/signals/index.ts';
import type { Field } from '../../schemas/fields.ts';
import type { Catalogue, KnownField, KnownMetric, KnownRecords } from './catalogue.ts';
import { genericWords } from './vocabulary.ts';
import { nameStems, stemOf, type Word } from './words.ts';

/** Target of a question */
export type Target = { readonly of: 'logs' | 'traces' } | { readonly of: 'metrics'; readonly metric: KnownMetric };

/** Candidates for the meaning of words; several if ambiguous */
export interface Candidates<Value> {
  readonly words: number;
  readonly options: readonly Value[];
}

export interface NamedValue {
  readonly field: string;
  readonly value: string;
}

/** Fields that every record has and that questions can name. `timestamp` and similar fields are expressed as ranges. */
const builtInFields: Readonly<Record<'logs' | 'traces', readonly string[]>> = {
  logs: ['service', 'severity', 'body', 'traceId', 'spanId', 'eventName', 'scope.name'],
  traces: ['service', 'name', 'kind', 'status', 'duration', 'statusMessage', 'traceId', 'spanId', 'scope.name'],
};

/** Synonyms of the last word of a name */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  service: ['service name'],
  route: ['endpoint', 'path', 'url'],
  severity: ['level', 'log level'],
  body: ['message text', 'text'],
  name: ['operation', 'span name'],
  duration: ['length'],
  method: ['verb'],
  system: ['database'],
  pod: ['pods'],
  environment: ['env', 'stage'],
  'exception type': ['exception class', 'error type', 'error class'],
};

/** Final words of a name that people omit: `host.name` is the host, `user.id` the user */
const optionalEndings: ReadonlySet<string> = new Set(['name', 'id', 'code', 'type', 'number', 'uid']);
const maxWords = 6;
const maxOptions = 4;

/** Final words without which the name is more certain: a meter is identified by its id rather than its type */
const identifying: ReadonlySet<string> = new Set(['name', 'id', 'uid']);

/** Returns the spoken forms of a name, the most certain first. */
const spokenForms = (name: string): (readonly [form: string, rank: number])[] => {
  const parts = nameStems(name);
  const forms: [string, number][] = [[parts.join(' '), 0]];
  const trimmed = optionalEndings.has(parts.at(-1) ?? '') ? parts.slice(0, -1) : undefined;
  if (trimmed !== undefined && trimmed.length > 0)
    forms.push([trimmed.join(' '), identifying.has(parts.at(-1) ?? '') ? 1 : 1.5]);
  // SDK metadata only matches its full name.
  for (let from = 1; from < parts.length && !/^(?:telemetry|otel)\./.test(name); from++) {
    forms.push([parts.slice(from).join(' '), 2]);
    if (trimmed !== undefined && from < trimmed.length) forms.push([trimmed.slice(from).join(' '), 3]);
  }
  for (const [canonicalWord, words] of Object.entries(synonyms))
    if (forms.some(([form, rank]) => form === canonicalWord && rank < 3))
      forms.push(...words.map((word): [string, number] => [word, 3]));
  return forms.filter(([form, rank], index) => form !== '' && (rank === 0 || !genericWords.has(form) || index === 0));
};

interface Form {
  readonly rank: number;
  readonly fields: KnownField[];
  /** Includes less certain fields. */
  readonly all: Set<KnownField>;
}

export class Lexicon {
  readonly #forms = new Map<string, Form>();
  readonly #values = new Map<string, NamedValue[]>();
  readonly fields: readonly KnownField[];

  constructor(fields: readonly KnownField[]) {
    this.fields = fields;
    for (const field of fields) {
      for (const [form, rank] of spokenForms(field.name)) this.#addForm(form, rank, field);
      for (const value of field.values) this.#addValue(field.name, value);
    }
  }

  /** A more certain form of one name hides less certain forms of others. */
  #addForm(form: string, formRank: number, field: KnownField): void {
    // "Version" means the version of a service, although other names end with it as well.
    const rank = field.name.startsWith('service.') ? Math.min(formRank, 1) : formRank;
    const known = this.#forms.get(form);
    const all = known?.all ?? new Set();
    all.add(field);
    if (known === undefined || rank < known.rank) this.#forms.set(form, { rank, fields: [field], all });
    else if (rank === known.rank && !known.fields.includes(field)) known.fields.push(field);
  }

  #addValue(field: string, value: string): void {
    const key = value.toLowerCase();
    const known = this.#values.get(key) ?? [];
    this.#values.set(key, known);
    known.push({ field, value });
  }

  field(name: string): KnownField | undefined {
    return this.fields.find((each) => each.name === name);
  }

  /** Returns the field that the most words at a position name. */
  fieldAt(words: readonly Word[], at: number): Candidates<KnownField> | undefined {
    const parts: string[] = [];
    let found: Candidates<KnownField> | undefined;
    for (let length = 1; length <= maxWords; length++) {
      const word = words[at + length - 1];
      if (word?.is !== 'word' || word.text.startsWith('/')) break;
      parts.push(...nameStems(word.text));
      const form = this.#forms.get(parts.join(' '));
      const exact = form?.fields.filter(({ name }) => name === word.text);
      if (form !== undefined)
        found = { words: length, options: (exact?.length === 1 ? exact : form.fields).slice(0, maxOptions) };
    }
    return found;
  }

  /** Returns the number of words at a position that may name a field, with any certainty. */
  mayName(words: readonly Word[], at: number, field: string): number {
    const parts: string[] = [];
    let found = 0;
    for (let length = 1; length <= maxWords && words[at + length - 1]?.is === 'word'; length++) {
      parts.push(...nameStems(words[at + length - 1]?.text ?? ''));
      const form = this.#forms.get(parts.join(' '));
      if (form !== undefined && [...form.all].some(({ name }) => name === field)) found = length;
    }
    return found;
  }

  /**
   * Returns the values that the most words at a position match. A value with the same case has precedence, and a
   * service has precedence over other values.
   */
  valueAt(words: readonly Word[], at: number, field?: string): Candidates<NamedValue> | undefined {
    let found: Candidates<NamedValue> | undefined;
    let phraseText = '';
    for (let length = 1; length <= maxWords; length++) {
      const word = words[at + length - 1];
      if (word === undefined || word.is === 'comma' || word.is === 'operator') break;
      phraseText = length === 1 ? word.inside : `${phraseText} ${word.inside}`;
      const options =
        field === undefined
          ? this.#bareValues(phraseText)
          : this.#findValues(phraseText).filter((each) => each.field === field);
      if (options.length > 0) found = { words: length, options: options.slice(0, maxOptions) };
    }
    return found;
  }

  #findValues(text: string): readonly NamedValue[] {
    return this.#values.get(text.toLowerCase()) ?? [];
  }

  /** Kinds and statuses are words of the language; alone, they do not refer to these fields. */
  #bareValues(text: string): readonly NamedValue[] {
    const all = this.#findValues(text).filter(({ field }) => field !== 'kind' && field !== 'status');
    const services = all.filter(({ field }) => field === 'service');
    const chosen = services.length > 0 ? services : all;
    const exact = chosen.filter(({ value }) => value === text);
    if (exact.length > 0 || chosen.length > 0) return exact.length > 0 ? exact : chosen;
    // "From households" matches the value household.
    const one = stemOf(text);
    const isPlural = one !== text.toLowerCase() && /^\p{L}{5,64}$/u.test(text);
    return isPlural ? this.#bareValues(one).filter(({ field }) => !exactFields.has(field)) : [];
  }

  /** Yields single words of names and values. */
  *words(): Iterable<string> {
    for (const form of this.#forms.keys()) yield* form.split(' ');
    for (const value of this.#values.keys()) {
      yield value;
      if (value.includes(' ')) yield* value.split(' ');
    }
  }
}

/**
 * Fields without matching of plurals: the language covers all forms of severities, and a service only matches its exact
 * name
 */
const exactFields: ReadonlySet<string> = new Set(['service', 'severity']);

const createTextField = (name: string, values: readonly string[] = [], hasAllValues = false): KnownField => ({
  name,
  isNumber: false,
  values,
  hasAllValues,
});

/** OpenTelemetry severities, as searches name them */
const severities = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

const createBuiltInFields = (of: 'logs' | 'traces', services: readonly string[]): KnownField[] =>
  builtInFields[of].map((name) => {
    const field = signalDefinitions[of].fields.find((each: Field<never>) => each.name === name);
    if (name === 'service') return createTextField(name, services, true);
    const values = name === 'severity' ? severities : (field?.names ?? []).filter((each) => each !== 'unspecified');
    return { ...createTextField(name, values), isNumber: field?.type === 'duration' };
  });

/** Returns the names that a question about a target may use. */
export const getLexicon = (target: Target, catalogue: Catalogue): Lexicon => {
  if (target.of === 'metrics') {
    const { labels, services } = target.metric;
    return new Lexicon([...labels, ...(services.length === 0 ? [] : [createTextField('service', services, true)])]);
  }
  const records = catalogue[target.of];
  const made = lexiconCache[target.of].get(records) ?? recordsLexicon(target.of, records);
  lexiconCache[target.of].set(records, made);
  return made;
};

/** Cache of lexicons for repeated questions */
const lexiconCache = {
  logs: new WeakMap<KnownRecords, Lexicon>(),
  traces: new WeakMap<KnownRecords, Lexicon>(),
} as const;

const recordsLexicon = (of: 'logs' | 'traces', { services, fields }: KnownRecords): Lexicon => {
  // A span name of a single word is as ambiguous as any other word.
  const spanNames = fields.find(({ name }) => name === 'name')?.values.filter((value) => value.includes(' ')) ?? [];
  const own = createBuiltInFields(of, services).map((field) =>
    field.name === 'name' ? { ...field, values: [...field.values, ...spanNames] } : field,
  );
  const names = new Set(own.map(({ name }) => name));
  return new Lexicon([...own, ...fields.filter(({ name }) => !names.has(name))]);
};
