/** What of a catalogue fits a question, for somebody who cannot be shown all of it. */
import type { Catalogue, KnownField } from './catalogue.ts';

const mostFields = 40;
const mostMetrics = 60;
const mostServices = 50;
const valuesEach = 5;
const mostOfValue = 60;
/** Of all of it, as JSON. */
const mostCharacters = 16_000;

interface FittingField {
  readonly name: string;
  readonly values: readonly string[];
}

export interface Fitting {
  readonly services: readonly string[];
  readonly logs: readonly FittingField[];
  readonly traces: readonly FittingField[];
  readonly metrics: readonly { readonly name: string; readonly kind: string; readonly unit: string }[];
}

/** Words and parts of words of three letters and more. */
const wordsOf = (text: string): Set<string> =>
  new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}]/u)
      .filter((word) => word.length > 2),
  );

/** Those that share most words with the question come first, others in their order; at most so many. */
const bestOf = <Named>(
  all: readonly Named[],
  textOf: (named: Named) => string,
  words: ReadonlySet<string>,
  most: number,
): Named[] =>
  all
    .map((named) => ({ named, shared: [...wordsOf(textOf(named))].filter((word) => words.has(word)).length }))
    .toSorted((one, other) => other.shared - one.shared)
    .slice(0, most)
    .map(({ named }) => named);

/** Names with some of their values, which are cut: all of it is what senders wrote. Above so many characters there is half of each list. */
export const fittingOf = (question: string, { logs, traces, metrics }: Catalogue): Fitting => {
  const words = wordsOf(question);
  const within = (part: number): Fitting => {
    const fields = (of: readonly KnownField[]): FittingField[] =>
      bestOf(of, ({ name, values }) => `${name} ${values.join(' ')}`, words, mostFields * part).map(
        ({ name, values }) => ({
          name,
          values: bestOf(values, String, words, valuesEach).map((value) => value.slice(0, mostOfValue).toWellFormed()),
        }),
      );
    const services = [...new Set([...logs.services, ...traces.services])];
    const fitting = {
      services: bestOf(services, String, words, mostServices * part),
      ...{ logs: fields(logs.fields), traces: fields(traces.fields) },
      metrics: bestOf(metrics, ({ name }) => name, words, mostMetrics * part).map(({ name, kind, unit }) => ({
        ...{ name, kind, unit },
      })),
    };
    return JSON.stringify(fitting).length <= mostCharacters ? fitting : within(part / 2);
  };
  return within(1);
};
