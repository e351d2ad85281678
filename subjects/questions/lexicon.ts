/** Index of names and values of one telemetry signal or metric by words */

import { signalDefinitions } from '../../queries/signals/index.ts';
import { addToList } from '../../schemas/add-to-list.ts';
import type { Field } from '../../schemas/fields.ts';
import type { Catalogue, CatalogueField, CatalogueMetric, CatalogueRecords } from './catalogue.ts';
import { listServiceParts } from './named-services.ts';
import { genericWords } from './vocabulary.ts';
import { splitNameStems, toRoot, toStem, type Word } from './words.ts';

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

/** Fields with names of tables, queues and code, which are not words of people: "orders" are not rows of a table */
export const technicalField = /^(?:db|messaging|code|thread|process|telemetry|otel)\.(?!system)/;

/** Returns whether a value is the name of a table, queue or the like, which a plain word does not mean. */
export const isTechnicalValue = ({ field, value }: NamedValue): boolean =>
  technicalField.test(field) && /^\p{Ll}+$/u.test(value);

/** Fields that every record has and that questions can name. `timestamp` and similar fields are expressed as ranges. */
const builtInFields: Readonly<Record<'logs' | 'traces', readonly string[]>> = {
  logs: ['service', 'severity', 'body', 'traceId', 'spanId', 'eventName', 'scope.name'],
  traces: ['service', 'name', 'kind', 'status', 'duration', 'statusMessage', 'traceId', 'spanId', 'scope.name'],
};

/** Names that people use for databases */
const databaseNames: Readonly<Record<string, readonly string[]>> = {
  postgresql: ['postgres', 'pg'],
  mongodb: ['mongo'],
  elasticsearch: ['elastic'],
  'microsoft.sql_server': ['sql server', 'mssql'],
  mssql: ['sql server'],
  mariadb: ['maria'],
  cassandra: ['c*'],
};

const routeField = /(?:^|\.)http\.route$/;
const countryField = /country/i;
/** Labels with names of pods and the like, which begin with the name of what runs in them */
const workloadField = /(?:^|[._])(?:deployment|statefulset|daemonset|container|pod)(?:[._]name)?$/;
/** Fields whose values are named by their last word: "timeouts" for the exception TimeoutError */
const partialField = /(?:^|[._])(?:exception\.type|error\.type|event|event\.name|reason)$/;
const articles: ReadonlySet<string> = new Set(['a', 'an', 'the']);
/** Words that may occur between those of a value, besides articles: "the lobby was full" */
const auxiliaries: ReadonlySet<string> = new Set('is are was were be been being has have had'.split(' '));
const failureSuffixes: ReadonlySet<string> = new Set(['error', 'exception', 'failure']);
const exceptionField = /(?:^|[._])(?:exception|error)\.type$/;
const minHeadLength = 4;
const nameOfWords = /^[\p{L}_-]{5,64}$/u;
/** Operations have names with spaces: `activate sim`. */
const operationName = /^[\p{L} _-]{5,64}$/u;

const countryNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
/** Returns the English name of a country in lower case; an empty text for another value. */
const nameCountry = (code: string): string =>
  /^[A-Z]{2}$/.test(code) ? (countryNames.of(code)?.toLowerCase() ?? '') : '';

const toRoots = (stems: readonly string[]): string => stems.map(toRoot).join(' ');

const withoutSuffix = (stems: readonly string[]): readonly string[] =>
  failureSuffixes.has(stems.at(-1) ?? '') ? stems.slice(0, -1) : stems;

/** Returns the words of a value, as in "card declined" for `card_declined` and `CardDeclinedError`. Ids have none. */
const listWordsOfValue = (value: string, pattern: RegExp): readonly string[] => {
  const words = withoutSuffix(splitNameStems(value));
  const isOfWords = pattern.test(value) && words.length > 1 && words.every((word) => word.length > 1);
  return isOfWords ? words : [];
};

/** Synonyms of the last word of a name */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  service: ['service name'],
  route: ['endpoint', 'path', 'url', 'page', 'resource path'],
  severity: ['level', 'log level'],
  body: ['message text', 'text'],
  name: ['operation', 'span name'],
  duration: ['length'],
  method: ['verb'],
  system: ['database'],
  'db system': ['database'],
  'db collection': ['table', 'collection'],
  pod: ['pods'],
  environment: ['env', 'stage'],
  instance: ['instance'],
  namespace: ['ns'],
  node: ['machine'],
  host: ['machine', 'server', 'node'],
  country: ['nation'],
  version: ['release', 'build'],
  'exception type': ['exception class', 'error type', 'error class'],
};

/** Final words of a name that people omit: `host.name` is the host, `user.id` the user */
const optionalEndings: ReadonlySet<string> = new Set(
  'name id code type number uid minute hour percent mg kg ms cents eur usd kwh byte second millisecond'.split(' '),
);
const maxWords = 6;
const maxServicePartWords = 3;
const maxOptions = 4;

/** Final words whose omission leaves a more certain name: "meter" refers to `meter.id` rather than `meter.type` */
const identifierEndings: ReadonlySet<string> = new Set(['name', 'id', 'uid']);

/** Returns the forms without words between: "HTTP method" is `http.request.method`. */
const listSkippingForms = (parts: readonly string[]): (readonly [form: string, rank: number])[] =>
  parts.length === 3 ? [[`${parts[0]} ${parts[2]}`, 3]] : [];

/** Returns the spoken forms of a name, the most certain first. */
const listSpokenForms = (name: string): (readonly [form: string, rank: number])[] => {
  const parts = splitNameStems(name);
  const forms: (readonly [string, number])[] = [[parts.join(' '), 0]];
  const trimmed = optionalEndings.has(parts.at(-1) ?? '') ? parts.slice(0, -1) : undefined;
  if (trimmed !== undefined && trimmed.length > 0)
    forms.push([trimmed.join(' '), identifierEndings.has(parts.at(-1) ?? '') ? 1 : 1.5]);
  // SDK metadata only matches its full name.
  for (let from = 1; from < parts.length && !/^(?:telemetry|otel)\./.test(name); from++) {
    forms.push([parts.slice(from).join(' '), 2]);
    if (trimmed !== undefined && from < trimmed.length) forms.push([trimmed.slice(from).join(' '), 3]);
  }
  forms.push(...listSkippingForms(parts));
  for (const [canonicalWord, words] of Object.entries(synonyms))
    if (forms.some(([form, rank]) => form === canonicalWord && rank < 3))
      forms.push(...words.map((word): [string, number] => [word, 3]));
  return forms.filter(([form, rank], index) => form !== '' && (rank === 0 || !genericWords.has(form) || index === 0));
};

/** Returns whether a word after a value is not what the value describes: `scan.result` does not describe tickets. */
const isOfOther = ({ options }: Candidates<NamedValue>, length: number, { stem }: Word): boolean =>
  length === 2 && options.every(({ field }) => splitNameStems(field)[0] !== stem);

interface FormEntry {
  readonly rank: number;
  readonly fields: CatalogueField[];
  /** Includes less certain fields. */
  readonly all: Set<CatalogueField>;
}

export class Lexicon {
  readonly #routes = new Map<string, NamedValue[]>();
  readonly #operations = new Set<string>();
  readonly #forms = new Map<string, FormEntry>();
  readonly #values = new Map<string, NamedValue[]>();
  readonly #valuesByHead = new Map<string, NamedValue[]>();
  /** Values by the roots of their words, if they have several */
  readonly #valuesByRoots = new Map<string, NamedValue[]>();
  readonly #serviceParts: ReadonlyMap<string, string>;
  readonly fields: readonly CatalogueField[];

  constructor(fields: readonly CatalogueField[]) {
    this.fields = fields;
    this.#serviceParts = listServiceParts(fields.find(({ name }) => name === 'service')?.values ?? []);
    for (const field of fields) {
      for (const [form, rank] of listSpokenForms(field.name)) this.#addForm(form, rank, field);
      for (const value of field.values) this.#addValue(field.name, value);
      if (routeField.test(field.name)) for (const value of field.values) this.#addRoute(field.name, value);
    }
    for (const operation of fields.find(({ name }) => name === 'name')?.values ?? []) this.#operations.add(operation);
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

  /** Adds a value, and what people write for it: `courier-gateway` with spaces, "postgres" for `postgresql`. */
  #addValue(field: string, value: string): void {
    this.#addValueForm(field, value, value.toLowerCase());
    const spoken = field === 'service' ? value.slice(value.lastIndexOf('/') + 1).toLowerCase() : '';
    const country = countryField.test(field) ? nameCountry(value) : '';
    for (const form of new Set([spoken, spoken.replace(/[-_.]/g, ' '), country]))
      if (form !== '' && form !== value.toLowerCase()) this.#addValueForm(field, value, form);
    if (field.startsWith('db.system'))
      for (const form of databaseNames[value] ?? []) this.#addValueForm(field, value, form);
    this.#addWordsOfValue(field, value);
  }

  /** Adds a value by its words: "declined payments" and "declined" for PaymentDeclined. */
  #addWordsOfValue(field: string, value: string): void {
    const pattern = field === 'name' ? operationName : nameOfWords;
    const words = listWordsOfValue(value, pattern);
    const reversed = words.length === 2 ? words.toReversed() : words;
    // "Validation errors" for ValidationError.
    const allWords = pattern.test(value) ? splitNameStems(value) : [];
    const complete = allWords.length > 1 ? allWords : [];
    for (const roots of new Set([toRoots(words), toRoots(reversed), toRoots(complete)]))
      if (roots !== '') addToList(this.#valuesByRoots, roots, { field, value });
    const head = partialField.test(field) ? withoutSuffix(splitNameStems(value)).at(-1) : undefined;
    if (head !== undefined) addToList(this.#valuesByHead, head, { field, value });
  }

  /**
   * Returns the value whose last word is the given one, or several exceptions: `TimeoutError` and `S3Timeout` are
   * timeouts.
   */
  valuesByHead({ is, stem }: Word): readonly NamedValue[] {
    const values = is === 'word' && stem.length >= minHeadLength ? (this.#valuesByHead.get(stem) ?? []) : [];
    const [first, second] = values;
    const isOfOneField = values.every(({ field }) => field === first?.field);
    const isUnambiguous = second === undefined || exceptionField.test(second.field);
    return isOfOneField && isUnambiguous ? values.slice(0, maxOptions) : [];
  }

  #addValueForm(field: string, value: string, key: string): void {
    addToList(this.#values, key, { field, value });
  }

  /** Adds a route by its last part without a parameter: `/orders` and `/orders/{id}` are about orders. */
  #addRoute(field: string, value: string): void {
    const parts = value.split('/').filter((part) => part !== '' && !/^[{:<*[]/.test(part));
    const key = toStem(parts.at(-1) ?? '');
    if (key === '') return;
    addToList(this.#routes, key, { field, value });
  }

  /** Returns the routes about what two words name together: "sign ups" for `/signups`, `/sign-ups`. */
  routesOfCompound([first, second]: readonly Word[]): readonly NamedValue[] {
    if (first?.is !== 'word' || second === undefined) return [];
    const names = ['', '-', '_'].map((separator) => `${first.text}${separator}${second.text}`);
    return names.flatMap((text) => this.routesOf({ ...second, text, stem: toStem(text) }));
  }

  /** Returns the routes about what a word names: those of the collection, otherwise those of one item. */
  routesOf({ is, stem, text }: Pick<Word, 'is' | 'stem' | 'text'>): readonly NamedValue[] {
    const routes = is === 'word' && /^\p{L}[\p{L}_-]{2,63}$/u.test(text) ? (this.#routes.get(stem) ?? []) : [];
    const collections = routes.filter(({ value }) => toStem(value.split('/').at(-1) ?? '') === stem);
    return collections.length > 0 ? collections : routes;
  }

  /** Returns the operation that creates what a route is about, if the route has others: `POST /orders` places orders. */
  creationOf({ value }: NamedValue): NamedValue | undefined {
    const operation = `POST ${value}`;
    const hasOthers = ['GET', 'PUT', 'PATCH', 'DELETE'].some((method) => this.#operations.has(`${method} ${value}`));
    return hasOthers && this.#operations.has(operation) ? { field: 'name', value: operation } : undefined;
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

  /** Returns the service of which the most words at a position are a part of the name. */
  servicePartAt(words: readonly Word[], position: number): Candidates<NamedValue> | undefined {
    for (let length = maxServicePartWords; length > 0; length--) {
      const part = words.slice(position, position + length);
      if (part.length < length || part.some(({ is }) => is !== 'word')) continue;
      const service = this.#serviceParts.get(part.map(({ lower }) => lower).join(' '));
      if (service !== undefined) return { words: length, options: [{ field: 'service', value: service }] };
    }
    return undefined;
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
      // "Expired tickets" is TicketExpired rather than any other value "expired".
      else if (field === undefined && length > 1 && (candidates === undefined || isOfOther(candidates, length, word)))
        candidates = this.#findByRoots(phraseText, length) ?? candidates;
    }
    return candidates;
  }

  #findByRoots(text: string, words: number): Candidates<NamedValue> | undefined {
    // "Rendering a pdf" for `render pdf`, "the lobby was full" for LobbyFull.
    const stems = splitNameStems(text).filter((stem) => !articles.has(stem));
    const parts = stems.filter((stem) => !auxiliaries.has(stem));
    // "Journey planning" is journey-planner, but printed letters are not letter-printer.
    const isService = parts.length === stems.length && !stems.some((stem) => stem.endsWith('ed'));
    const options = (this.#valuesByRoots.get(toRoots(parts)) ?? []).filter(
      ({ field }) => isService || field !== 'service',
    );
    if (options.length === 0) return undefined;
    return { words, options: options.slice(0, maxOptions) };
  }

  #findValues(text: string): readonly NamedValue[] {
    return this.#values.get(text.toLowerCase()) ?? this.#findRoutesBelow(text);
  }

  /** Returns the routes below a path: `/orders/{id}` for `/orders`, if that is not a route. */
  #findRoutesBelow(path: string): readonly NamedValue[] {
    if (!path.startsWith('/') || path.length < 2) return [];
    return this.fields
      .filter(({ name }) => routeField.test(name))
      .flatMap(({ name, values }) =>
        values.filter((value) => value.startsWith(`${path}/`)).map((value) => ({ field: name, value })),
      );
  }

  /** Returns the field of workloads in which names begin with a word: pods are `billing-7d9` and `billing-8fa`. */
  workloadFieldOf({ is, text, lower }: Word): string | undefined {
    return is === 'word' && /^\p{L}[\p{L}\p{N}-]{2,62}$/u.test(text)
      ? this.fields.find(
          ({ name, values }) => workloadField.test(name) && values.some((value) => value.startsWith(`${lower}-`)),
        )?.name
      : undefined;
  }

  /**
   * Words such as "server" or "error" belong to the question language. Alone, they do not refer to the fields kind
   * and status, and "the trace of an order" is not a severity.
   */
  #findUnqualifiedValues(text: string): readonly NamedValue[] {
    const values = this.#findValues(text).filter(
      ({ field, value }) => field !== 'kind' && field !== 'status' && !(field === 'severity' && value === 'trace'),
    );
    const services = values.filter(({ field }) => field === 'service');
    const preferred = services.length > 0 ? services : values;
    const exact = preferred.filter(({ value }) => value === text);
    if (exact.length > 0 || preferred.length > 0) return exact.length > 0 ? exact : preferred;
    // "From households" matches the value household.
    const singular = toStem(text);
    const isPlural = singular !== text.toLowerCase() && /^[\p{L} ]{5,64}$/u.test(text);
    return isPlural ? this.#findUnqualifiedValues(singular).filter(({ field }) => !exactFields.has(field)) : [];
  }

  /** Yields single words of names and values. */
  *words(): Iterable<string> {
    for (const form of this.#forms.keys()) yield* form.split(' ');
    for (const value of this.#values.keys()) {
      yield value;
      if (value.includes(' ')) yield* value.split(' ');
    }
    for (const values of this.#valuesByRoots.values()) for (const { value } of values) yield* splitNameStems(value);
    yield* this.#valuesByHead.keys();
    yield* this.#routes.keys();
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
