/** Selects the part of a catalogue that is relevant to a question, for a consumer with limited input */
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
          values: selectBest(values, String, words, maxValuesPerField).map((value) =>
            value.slice(0, maxValueLength).toWellFormed(),
          ),
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
