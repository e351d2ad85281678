/** Index of names and values of one telemetry signal or metric by words */

import { signalDefinitions } from '../../queries/signals/index.ts';
import type { Field } from '../../schemas/fields.ts';
import type { Catalogue, CatalogueField, CatalogueMetric, CatalogueRecords } from './catalogue.ts';
import { genericWords } from './vocabulary.ts';
import { splitNameStems, toStem, type Word } from './words.ts';

/** Data source of a question: logs, traces or one metric */
export type Target =
  | { readonly signal: 'logs' | 'traces' }
  | { readonly signal: 'metrics'; readonly metric: CatalogueMetric };

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

/** Final words whose omission leaves a more certain name: "meter" refers to `meter.id` rather than `meter.type` */
const identifierEndings: ReadonlySet<string> = new Set(['name', 'id', 'uid']);

/** Returns the spoken forms of a name, the most certain first. */
const listSpokenForms = (name: string): (readonly [form: string, rank: number])[] => {
  const parts = splitNameStems(name);
  const forms: [string, number][] = [[parts.join(' '), 0]];
  const trimmed = optionalEndings.has(parts.at(-1) ?? '') ? parts.slice(0, -1) : undefined;
  if (trimmed !== undefined && trimmed.length > 0)
    forms.push([trimmed.join(' '), identifierEndings.has(parts.at(-1) ?? '') ? 1 : 1.5]);
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

interface FormEntry {
  readonly rank: number;
  readonly fields: CatalogueField[];
  /** Includes less certain fields. */
  readonly all: Set<CatalogueField>;
}

export class Lexicon {
  readonly #forms = new Map<string, FormEntry>();
  readonly #values = new Map<string, NamedValue[]>();
  readonly fields: readonly CatalogueField[];

  constructor(fields: readonly CatalogueField[]) {
    this.fields = fields;
    for (const field of fields) {
      for (const [form, rank] of listSpokenForms(field.name)) this.#addForm(form, rank, field);
      for (const value of field.values) this.#addValue(field.name, value);
    }
  }

  /** A more certain form of one name hides less certain forms of others. */
  #addForm(form: string, formRank: number, field: CatalogueField): void {
    // "Version" means the version of a service, although other names end with it as well.
    const rank = field.name.startsWith('service.') ? Math.min(formRank, 1) : formRank;
    const knownForm = this.#forms.get(form);
    const all = knownForm?.all ?? new Set();
    all.add(field);
    if (knownForm === undefined || rank < knownForm.rank) this.#forms.set(form, { rank, fields: [field], all });
    else if (rank === knownForm.rank && !knownForm.fields.includes(field)) knownForm.fields.push(field);
  }

  #addValue(field: string, value: string): void {
    const key = value.toLowerCase();
    const knownValues = this.#values.get(key) ?? [];
    this.#values.set(key, knownValues);
    knownValues.push({ field, value });
  }

  field(name: string): CatalogueField | undefined {
    return this.fields.find((field) => field.name === name);
  }

  /** Returns the field that the most words at a position name. */
  fieldAt(words: readonly Word[], position: number): Candidates<CatalogueField> | undefined {
    const parts: string[] = [];
    let candidates: Candidates<CatalogueField> | undefined;
    for (let length = 1; length <= maxWords; length++) {
      const word = words[position + length - 1];
      if (word?.is !== 'word' || word.text.startsWith('/')) break;
      parts.push(...splitNameStems(word.text));
      const form = this.#forms.get(parts.join(' '));
      const exact = form?.fields.filter(({ name }) => name === word.text);
      if (form !== undefined)
        candidates = { words: length, options: (exact?.length === 1 ? exact : form.fields).slice(0, maxOptions) };
    }
    return candidates;
  }

  /** Returns the number of words at a position that may name a field, with any certainty. */
  mayName(words: readonly Word[], position: number, field: string): number {
    const parts: string[] = [];
    let matchLength = 0;
    for (let length = 1; length <= maxWords && words[position + length - 1]?.is === 'word'; length++) {
      parts.push(...splitNameStems(words[position + length - 1]?.text ?? ''));
      const form = this.#forms.get(parts.join(' '));
      if (form !== undefined && [...form.all].some(({ name }) => name === field)) matchLength = length;
    }
    return matchLength;
  }

  /**
   * Returns the values that the most words at a position match. A value with the same case has precedence, and a
   * service has precedence over other values.
   */
  valueAt(words: readonly Word[], position: number, field?: string): Candidates<NamedValue> | undefined {
    let candidates: Candidates<NamedValue> | undefined;
    let phraseText = '';
    for (let length = 1; length <= maxWords; length++) {
      const word = words[position + length - 1];
      if (word === undefined || word.is === 'comma' || word.is === 'operator') break;
      phraseText = length === 1 ? word.content : `${phraseText} ${word.content}`;
      const options =
        field === undefined
          ? this.#findUnqualifiedValues(phraseText)
          : this.#findValues(phraseText).filter((namedValue) => namedValue.field === field);
      if (options.length > 0) candidates = { words: length, options: options.slice(0, maxOptions) };
    }
    return candidates;
  }

  #findValues(text: string): readonly NamedValue[] {
    return this.#values.get(text.toLowerCase()) ?? [];
  }

  /**
   * Words such as "server" or "error" belong to the question language. Alone, they do not refer to the fields kind
   * and status.
   */
  #findUnqualifiedValues(text: string): readonly NamedValue[] {
    const values = this.#findValues(text).filter(({ field }) => field !== 'kind' && field !== 'status');
    const services = values.filter(({ field }) => field === 'service');
    const preferred = services.length > 0 ? services : values;
    const exact = preferred.filter(({ value }) => value === text);
    if (exact.length > 0 || preferred.length > 0) return exact.length > 0 ? exact : preferred;
    // "From households" matches the value household.
    const singular = toStem(text);
    const isPlural = singular !== text.toLowerCase() && /^\p{L}{5,64}$/u.test(text);
    return isPlural ? this.#findUnqualifiedValues(singular).filter(({ field }) => !exactFields.has(field)) : [];
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

const createTextField = (name: string, values: readonly string[] = [], hasAllValues = false): CatalogueField => ({
  name,
  isNumber: false,
  values,
  hasAllValues,
});

/** OpenTelemetry severities, as searches name them */
const severities = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

const createBuiltInFields = (signal: 'logs' | 'traces', services: readonly string[]): CatalogueField[] =>
  builtInFields[signal].map((name) => {
    const field = signalDefinitions[signal].fields.find((field: Field<never>) => field.name === name);
    if (name === 'service') return createTextField(name, services, true);
    const values = name === 'severity' ? severities : (field?.names ?? []).filter((value) => value !== 'unspecified');
    return { ...createTextField(name, values), isNumber: field?.type === 'duration' };
  });

/** Returns the names that a question about a target may use. */
export const getLexicon = (target: Target, catalogue: Catalogue): Lexicon => {
  if (target.signal === 'metrics') {
    const { labels, services } = target.metric;
    return new Lexicon([...labels, ...(services.length === 0 ? [] : [createTextField('service', services, true)])]);
  }
  const records = catalogue[target.signal];
  const lexicon = lexiconCache[target.signal].get(records) ?? createRecordsLexicon(target.signal, records);
  lexiconCache[target.signal].set(records, lexicon);
  return lexicon;
};

/** Cache of lexicons for repeated questions */
const lexiconCache = {
  logs: new WeakMap<CatalogueRecords, Lexicon>(),
  traces: new WeakMap<CatalogueRecords, Lexicon>(),
} as const;

const createRecordsLexicon = (signal: 'logs' | 'traces', { services, fields }: CatalogueRecords): Lexicon => {
  // A span name of a single word is as ambiguous as any other word.
  const spanNames = fields.find(({ name }) => name === 'name')?.values.filter((value) => value.includes(' ')) ?? [];
  const builtIn = createBuiltInFields(signal, services).map((field) =>
    field.name === 'name' ? { ...field, values: [...field.values, ...spanNames] } : field,
  );
  const names = new Set(builtIn.map(({ name }) => name));
  return new Lexicon([...builtIn, ...fields.filter(({ name }) => !names.has(name))]);
};
