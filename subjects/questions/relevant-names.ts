/** Selects the part of a catalogue that is relevant to a question, for a consumer with limited input */
import { isSecretName } from '../../schemas/secret-names.ts';
import type { Catalogue, CatalogueField } from './catalogue.ts';

const maxFields = 40;
const maxMetrics = 60;
const maxServices = 50;
const maxValuesPerField = 5;
const maxValueLength = 60;
/** Maximum number of characters of the result as JSON */
const maxCharacters = 16_000;

interface RelevantField {
  readonly name: string;
  readonly values: readonly string[];
}

export interface RelevantNames {
  readonly services: readonly string[];
  readonly logs: readonly RelevantField[];
  readonly traces: readonly RelevantField[];
  readonly metrics: readonly { readonly name: string; readonly kind: string; readonly unit: string }[];
}

/** Returns words and parts of words with at least three letters. */
const splitWords = (text: string): Set<string> =>
  new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}]/u)
      .filter((word) => word.length > 2),
  );

/** Returns at most `maxItems` items: those that share the most words with the question first, others in their order. */
const selectBest = <Item>(
  items: readonly Item[],
  getText: (item: Item) => string,
  words: ReadonlySet<string>,
  maxItems: number,
): Item[] =>
  items
    .map((item) => ({ named: item, shared: [...splitWords(getText(item))].filter((word) => words.has(word)).length }))
    .toSorted((left, right) => right.shared - left.shared)
    .slice(0, maxItems)
    .map(({ named: item }) => item);

/** Names of values about persons and of credentials, in addition to those that `isSecretName` knows */
const privateName =
  /authori[sz]ation|cookie|credential|session|signature|bearer|e-?mail|phone|address|user|customer|person/i;
/** A part of a word without digits and of a usual length; anything else may be an id, an address or a credential */
const plainPart = /^\p{L}{0,24}$/u;
const isPlainPart = (part: string): boolean => {
  if (part === '') return true;
  if (!plainPart.test(part)) return false;
  const humps = part.split(/(?=\p{Lu})/u);
  return humps.length === part.length || (humps.length <= 5 && humps.every(({ length }) => length > 1));
};
const isPlainWord = (word: string): boolean => word.split(/[-_./{}]/).every(isPlainPart);
const maskedWord = '<value>';

/**
 * Masks values like texts of logs: numbers, ids and addresses become a placeholder. Values of secret and personal names
 * are omitted. A value that the question contains is known to leave anyway.
 */
const maskValues = (name: string, values: readonly string[], question: string): string[] => {
  const lowerQuestion = question.toLowerCase();
  const isPrivate = isSecretName(name) || privateName.test(name);
  const maskedValues = values.flatMap((value) => {
    const text = value.slice(0, maxValueLength).toWellFormed();
    if (text.length > 2 && lowerQuestion.includes(text.toLowerCase())) return [text];
    if (isPrivate) return [];
    const masked = text
      .split(' ')
      .map((word) => (isPlainWord(word) ? word : maskedWord))
      .join(' ');
    return /^(?:<value> ?)+$/.test(masked) ? [] : [masked];
  });
  return [...new Set(maskedValues)];
};

/**
 * Returns names with some of their values, truncated because senders control them. If the result exceeds the limit,
 * each list is halved.
 */
export const selectRelevantNames = (question: string, { logs, traces, metrics }: Catalogue): RelevantNames => {
  const words = splitWords(question);
  const selectWithin = (fraction: number): RelevantNames => {
    const selectFields = (candidateFields: readonly CatalogueField[]): RelevantField[] =>
      selectBest(candidateFields, ({ name, values }) => `${name} ${values.join(' ')}`, words, maxFields * fraction).map(
        ({ name, values }) => ({
          name,
          values: maskValues(name, selectBest(values, String, words, maxValuesPerField), question),
        }),
      );
    const services = [...new Set([...logs.services, ...traces.services])];
    const relevantNames = {
      services: selectBest(services, String, words, maxServices * fraction),
      logs: selectFields(logs.fields),
      traces: selectFields(traces.fields),
      metrics: selectBest(metrics, ({ name }) => name, words, maxMetrics * fraction).map(({ name, kind, unit }) => ({
        name,
        kind,
        unit,
      })),
    };
    return JSON.stringify(relevantNames).length <= maxCharacters ? relevantNames : selectWithin(fraction / 2);
  };
  return selectWithin(1);
};
