/** Questions that an analysis answers: "why is cart slow since 9?", "what changed in payment today?" */
import { UnclearQuestionError } from './assemble.ts';
import type { Catalogue } from './catalogue.ts';
import { type Deployed, resolveDeployments } from './deployment-times.ts';
import type { InvestigationIntent } from './intents.ts';
import type { InterpretedWord, Investigated, Investigation } from './interpretation.ts';
import { findNamedService, isPartOfService } from './named-services.ts';
import { resolveRange } from './ranges.ts';
import { type Now, type TimePart, TimeReader } from './times.ts';
import type { Word } from './words.ts';

const investigationTitles: Readonly<Record<Investigated, string>> = {
  cause: 'root cause analysis',
  changes: 'changes',
};

/** Returns the time expressions of a question, and the meanings of its words. */
const readTimes = (
  words: readonly Word[],
  input: Now,
  describeWord: (word: Word) => string | null,
): { readonly times: readonly TimePart[]; readonly words: readonly InterpretedWord[] } => {
  const reader = new TimeReader(words, input);
  const times: TimePart[] = [];
  const interpretedWords: InterpretedWord[] = [];
  for (let position = 0; position < words.length; ) {
    const match = reader.position(position);
    const length = match?.words ?? 1;
    if (match !== undefined) times.push(match.value);
    const matchedWords = words.slice(position, position + length);
    const [word] = matchedWords;
    interpretedWords.push({
      text: matchedWords.map(({ text }) => text).join(' '),
      mappedTo: match === undefined && word !== undefined ? describeWord(word) : 'range',
    });
    position += length;
  }
  return { times, words: interpretedWords };
};

/**
 * Returns the investigation that a question wants; `undefined` if it is about a cause and names no service. Throws
 * `UnclearQuestionError` if its times form no range.
 */
export const interpretInvestigation = (
  { about, phrase }: Pick<InvestigationIntent, 'about' | 'phrase'>,
  words: readonly Word[],
  input: Now & Deployed,
  catalogue: Catalogue,
): Investigation | undefined => {
  const service = findNamedService(words, catalogue);
  if (service === null && about === 'cause') return undefined;
  const describeWord = (word: Word): string | null => {
    if (service !== null && isPartOfService(word, service)) return 'service';
    return phrase.split(' ').includes(word.lower) ? investigationTitles[about] : null;
  };
  const { times: writtenTimes, words: interpretedWords } = readTimes(words, input, describeWord);
  const { times } = resolveDeployments({ times: [...writtenTimes], comparedTimes: [] }, input, service ?? undefined);
  const parsedRange = resolveRange(times, input);
  if (parsedRange !== undefined && 'problem' in parsedRange) throw new UnclearQuestionError(parsedRange.problem);
  return { about, service, range: parsedRange?.range ?? input.defaultRange, words: interpretedWords };
};
